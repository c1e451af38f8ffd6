// Names of protobuf fields in JSON.

/**
 * Return the name of a field in JSON, such as chatPerche for chat_perche.
 * @param {string} field
 */
export function inJson(field) {
  return field.replace(/_(.)/g, (_, /** @type {string} */ letter) => letter.toUpperCase());
}
