// A page for tests: as much of a document as dom.js uses.

class FakeNode {
  constructor(page, tag, text) {
    this.ownerDocument = page;
    this.tag = tag;
    this.data = text;
    this.parent = null;
    this.children = [];
    this.attributes = {};
    this.styles = {};
    this.moves = 0;
    this.style = {
      setProperty: (name, value) => {
        if (value === "") delete this.styles[name];
        else this.styles[name] = value;
      },
    };
  }

  get firstChild() {
    return this.children[0] ?? null;
  }

  get nextSibling() {
    const siblings = this.parent.children;
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }

  insertBefore(node, place) {
    node.remove();
    const at = place ? this.children.indexOf(place) : this.children.length;
    this.children.splice(at, 0, node);
    node.parent = this;
    ++node.moves;
  }

  replaceChildren() {
    for (const child of [...this.children]) child.remove();
  }

  remove() {
    if (this.parent) {
      this.parent.children.splice(this.parent.children.indexOf(this), 1);
    }
    this.parent = null;
  }

  setAttribute(name, value) {
    this.attributes[name] = String(value);
  }

  removeAttribute(name) {
    delete this.attributes[name];
  }

  // The markup of this node, with its text escaped.
  toString() {
    if (this.tag === undefined) return this.data.replaceAll("<", "&lt;");
    const attributes = Object.entries(this.attributes)
      .map(([name, value]) => ` ${name}="${value}"`).join("");
    return `<${this.tag}${attributes}>${this.children.join("")}</${this.tag}>`;
  }
}

export function fakeRoot() {
  const page = {
    createElement: (tag) => new FakeNode(page, tag),
    createElementNS: (_, tag) => new FakeNode(page, tag),
    createTextNode: (text) => new FakeNode(page, undefined, text),
  };
  return page.createElement("main");
}

// Returns the first element in the views that has this tag, and whose text
// begins with `text`.
export function findView(views, tag, text) {
  for (const each of [views].flat(Infinity)) {
    const view = each?.view ? each.view() : each;
    if (!view?.children) continue;
    if (view.tag === tag && textOf(view).startsWith(text)) return view;
    const found = findView(view.children, tag, text);
    if (found) return found;
  }
  return null;
}

export const textOf = ({ text, children = [] }) =>
  text ?? children.map(textOf).join("");
