"""Builds a step with a planted bug, to show that scripts/soak can find it."""

import hashlib
import itertools
import pathlib
import re
import shlex
import shutil
import subprocess

from embedded import ROOT, fail, program_of

PATCHES = ROOT / "testdata" / "soak"


def names() -> list[str]:
    return sorted(path.stem for path in PATCHES.glob("*.patch"))


def run(command: list[str], folder: pathlib.Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        fail(f"'{shlex.join(command)[:200]}' failed: "
             f"{(done.stderr or done.stdout).strip()}")
    return done.stdout


def build(name: str, step: str) -> pathlib.Path:
    """Returns the program of a patched copy of a step.

    Compiles the patched files, and links them with the other objects of the
    build whose programs the soak runs. Compiles everything if a header is
    patched.
    """
    patch = PATCHES / f"{name}.patch"
    if not patch.exists():
        fail(f"no such bug: {name}; there are {', '.join(names())}")
    source, = (ROOT / "steps").glob(f"{int(step):02}-*")
    if f"/{source.name}/" not in patch.read_text(encoding="utf-8"):
        fail(f"{patch} is not for the step {source.name}")
    folder = ROOT / "build" / "planted" / name
    program = folder / program_of(step).name
    stamp = stamp_of([patch, program_of(step), *sorted(source.rglob("*.*"))])
    if program.exists() and (folder / "stamp").read_text("ascii") == stamp:
        return program
    shutil.rmtree(folder, ignore_errors=True)
    copy = folder / "steps" / source.name
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("tests"))
    run(["git", "apply", f"--directory={folder.relative_to(ROOT)}",
         str(patch)], ROOT)
    touched = set(re.findall(rf"^\+\+\+ b/steps/{source.name}/(\S+)",
                             patch.read_text("utf-8"), re.MULTILINE))
    compile_and_link(copy, program, touched, program_of(step).parents[1])
    (folder / "stamp").write_text(stamp, encoding="ascii")
    return program


def stamp_of(paths: list[pathlib.Path]) -> str:
    """Returns a text that differs if any of the files does."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(str(path).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def compile_and_link(copy: pathlib.Path, program: pathlib.Path,
                     touched: set[str], build_folder: pathlib.Path) -> None:
    """Builds the program of a patched copy of a step.

    Steps share objects, so the step's other objects may be those of any step.
    """
    target, folder = program.name, program.parent
    everything = any(path.endswith(".h") for path in touched)
    output = run(["ninja", "-C", str(build_folder), "-t", "commands", target],
                 ROOT)
    *compilations, link = output.splitlines()
    link = link.removeprefix(": && ").removesuffix(" && :")
    link = link.replace(f"-o bin/{target}", f"-o {shlex.quote(str(program))}")
    objects = shlex.split(link)
    for i, line in enumerate(compilations):
        words = shlex.split(line)
        if "-c" not in words:
            continue
        built = words[words.index("-o") + 1]
        if built not in objects:
            continue
        compiled = pathlib.Path(words[words.index("-c") + 1])
        text = f'#include "{compiled}"\n'
        if "Unity" in compiled.parts:
            text = compiled.read_text(encoding="utf-8")
        if not everything and not any(f'/{name}"' in text for name in touched):
            continue
        mine = folder / f"unity_{i}.cc"
        mine.write_text(of_copy(text, copy), encoding="utf-8")
        link = link.replace(built, shlex.quote(str(mine.with_suffix(".o"))))
        # A launcher such as ccache may come before the compiler.
        compiler = itertools.takewhile(lambda word: word[0] != "-", words)
        run([*compiler,
             *(of_copy(word + "/", copy).removesuffix("/") for word in words
               if re.match("-[DI]", word)),
             "-std=c++20", "-O1", "-c", str(mine), "-o",
             str(mine.with_suffix(".o"))], build_folder)
    run(shlex.split(link), build_folder)


def of_copy(text: str, copy: pathlib.Path) -> str:
    """Replaces the folder of each step by the folder of the copy."""
    return re.sub(rf"{re.escape(str(ROOT))}/steps/\d\d-[^/]+/", f"{copy}/",
                  text)
