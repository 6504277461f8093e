// Views as plain data, and a patch that makes the page equal to them. All text
// of the cluster reaches the page through text nodes and attributes, so markup
// in a name or a message stays text.

const kSvg = new Set(["svg", "path", "line", "rect", "title"]);
const kProperties = new Set(["value", "checked", "disabled", "selected"]);
const kForced = new Set(["value", "selected"]);  // The reader changes them too.
const kForbidden = new Set(["innerhtml", "outerhtml", "srcdoc", "style"]);

class View {
  constructor(fields) { Object.assign(this, fields); }
}

// Returns an element of a view: h("p.quiet", props, …children). The props may
// be absent. They are attributes; except `key`, which identifies the element
// among its siblings, `styles`, which has style properties, `on…`, which are
// functions, and `hook`, which is called once with the new element. Children
// are elements, texts, numbers, or lists of them; null and false are nothing.
export function h(name, ...rest) {
  const { key, ...props } = rest[0]?.constructor === Object ? rest.shift() : {};
  const [tag, ...classes] = name.split(".");
  if (props.class) classes.push(props.class);
  if (classes.length > 0) props.class = classes.join(" ");
  return new View({ tag, key, props, children: flatten(rest, "", []) });
}

// Returns an element that is made again only if one of `deps` has changed.
export function lazy(key, deps, view) {
  return new View({ key, deps, view });
}

// Makes the children of an element equal to the views. If a lazy view throws,
// the element is empty: some of its children may have changed already.
export function patch(parent, ...children) {
  const next = flatten(children, "", []);
  try {
    patchChildren(parent, parent.patched ?? [], next);
    parent.patched = next;
  } catch (error) {
    parent.replaceChildren();
    parent.patched = [];
    throw error;
  }
}

// Gives each child a key: its own, or else its position, so that a child that
// comes and goes does not change the keys of its siblings.
function flatten(children, prefix, flat) {
  children.forEach((child, i) => {
    if (child === null || child === undefined || child === false) return;
    const id = `${prefix}#${i}`;
    if (Array.isArray(child)) {
      flatten(child, id, flat);
    } else if (child instanceof View) {
      flat.push(Object.assign(child, { id: child.key ?? id }));
    } else {
      flat.push({ id, text: String(child) });
    }
  });
  return flat;
}

function patchChildren(parent, old, next) {
  const before = new Map(old.map((view) => [view.id, view]));
  for (const view of next) {
    const known = before.get(view.id);
    const isReused = known && reuse(known, view, parent);
    if (isReused) before.delete(view.id);
    if (!isReused) create(view, parent);
  }
  for (const view of before.values()) view.node.remove();
  let place = parent.firstChild;
  for (const { node } of next) {
    if (node !== place) parent.insertBefore(node, place);
    if (node === place) place = place.nextSibling;
  }
}

// Changes the node of `old` to show `view`. Returns false if it can't.
function reuse(old, view, parent) {
  if (view.view) {
    if (!old.view) return false;
    const isSame = old.deps.length === view.deps.length &&
      old.deps.every((value, i) => Object.is(value, view.deps[i]));
    view.inner = isSame ? old.inner : view.view();
    if (!isSame && !reuse(old.inner, view.inner, parent)) return false;
    view.node = view.inner.node;
    return true;
  }
  if (old.view || old.tag !== view.tag) return false;
  view.node = old.node;
  if (view.tag === undefined) {
    if (old.text !== view.text) view.node.data = view.text;
    return true;
  }
  setProps(view.node, old.props, view.props);
  patchChildren(view.node, old.children, view.children);
  return true;
}

function create(view, parent) {
  const { ownerDocument } = parent;
  if (view.view) {
    view.inner ??= view.view();
    create(view.inner, parent);
    view.node = view.inner.node;
  } else if (view.tag === undefined) {
    view.node = ownerDocument.createTextNode(view.text);
  } else {
    view.node = kSvg.has(view.tag)
      ? ownerDocument.createElementNS("http://www.w3.org/2000/svg", view.tag)
      : ownerDocument.createElement(view.tag);
    patchChildren(view.node, [], view.children);
    setProps(view.node, {}, view.props);
    view.props.hook?.(view.node);
  }
}

function setProps(node, old, props) {
  for (const name in { ...old, ...props }) {
    if (old[name] !== props[name] || kForced.has(name)) {
      setProp(node, name, old[name], props[name]);
    }
  }
}

function setProp(node, name, old, value) {
  if (name === "hook") return;
  if (name === "styles") {
    for (const key in { ...old, ...value }) {
      const style = value?.[key] ?? "";  // "" removes the property.
      if (old?.[key] !== style) node.style.setProperty(key, style);
    }
  } else if (/^on/i.test(name)) {
    if (value && typeof value !== "function") throw new TypeError(name);
    node[name.toLowerCase()] = value ?? null;
  } else if (kForbidden.has(name.toLowerCase())) {
    throw new TypeError(`${name} is not an attribute for views`);
  } else if (kProperties.has(name)) {
    // What the reader is typing stays as it is.
    const isTyped = name === "value" && node.type !== "range" &&
      node === node.ownerDocument.activeElement;
    if (!isTyped && node[name] !== value) node[name] = value ?? "";
  } else if (value === null || value === undefined || value === false) {
    node.removeAttribute(name);
  } else {
    node.setAttribute(name, value === true ? "" : value);
  }
}
