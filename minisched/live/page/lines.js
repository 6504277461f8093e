// Appends a line of text to an element.
export function appendLine(element, text) {
  element.append(`${text}\n`);
}
