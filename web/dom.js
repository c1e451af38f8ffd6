// Creation of elements: HTML with `h`, SVG with `s`.

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | number | null | undefined | false} Leaf */
/**
 * A child, or a nested array of children.
 * @typedef {Leaf | readonly unknown[]} Child
 */
/** @typedef {Readonly<Record<string, unknown>>} Attributes */

/**
 * Create an HTML element.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes] attributes whose names begin with `on` are listeners. Attributes with the value
 *   null, undefined or false are left out. The value true sets an empty attribute
 * @param {...Child} children strings become text, never markup
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * Create a button that calls a function.
 * @param {Child} label
 * @param {(event: MouseEvent) => void} onclick
 * @param {Attributes} [attributes]
 */
export function button(label, onclick, attributes = {}) {
  return h("button", { type: "button", ...attributes, onclick }, label);
}

/**
 * Create an SVG element, like `h`.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * @template {Element} E
 * @param {E} element
 * @param {Attributes} attributes
 * @param {readonly Child[]} children
 */
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  append(element, children);
  return element;
}

/**
 * @param {Element} element
 * @param {readonly Child[]} children
 */
function append(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) {
      append(element, /** @type {readonly Child[]} */ (child));
    } else if (child !== null && child !== undefined && child !== false) {
      element.append(/** @type {Node} */ (typeof child === "number" ? String(child) : child));
    }
  }
}
