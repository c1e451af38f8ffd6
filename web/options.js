// The options of a game from the service's descriptions: the form for a new game, and the list of chosen options.

import { h } from "./dom.js";
import { nameOfSeat } from "./seat_names.js";
import { t } from "./settings.js";
import { inJson } from "./shared/field_names.js";
import { SetOptions } from "./shared/fields.js";

/** @import { OptionInfoJson, OptionsJson, OptionRangeJson } from "#api/chatiere/v1/game_pb.js" */
/** @typedef {import("./games.js").GameKit} GameKit */
/** @typedef {OptionInfoJson & {range: OptionRangeJson}} Asked */
/**
 * An option in the form: its element, and functions that read and write its numbers. There is no number if chance
 * decides.
 * @typedef {{asked: Asked, element: HTMLElement, read: () => number[], write: (numbers: readonly number[]) => void}}
 *   Control
 */

/** The maximum number of fields that are shown without a click. */
const FEW = 8;

/** The part of a form with the options of a game. */
export class OptionsForm {
  /** @type {Control[]} */
  #controls = [];

  /** @param {GameKit} kit */
  constructor(kit) {
    this.kit = kit;
    this.fields = h("div", {});
    this.element = h("details", { class: "options" }, h("summary", {}, t("options")), this.fields);
    // Open the parts of the form around an invalid field, because browsers do not show it in a closed part.
    this.element.addEventListener("invalid", ({ target }) => openAround(target), true);
  }

  /**
   * Show the options for a number of players. Values chosen before are kept if they still exist.
   * @param {number} players
   */
  show(players) {
    const before = this.value;
    this.#controls = askedOf(this.kit, players).map((asked) => controlOf(this.kit, asked));
    this.fields.replaceChildren(...this.#controls.map(({ element }) => element));
    this.fill(before);
  }

  /** The options that differ from their defaults, or undefined if all are defaults. */
  get value() {
    const chosen = this.#controls.flatMap(({ asked, read }) => {
      const numbers = read();
      return isDefault(asked, numbers)
        ? []
        : [[inJson(asked.name ?? ""), fieldValue(this.kit.name, asked, numbers)]];
    });
    const options = Object.fromEntries(chosen);
    return chosen.length === 0 ? undefined : /** @type {OptionsJson} */ ({ [this.kit.field]: options });
  }

  /**
   * Fill in the form. Missing options get their defaults.
   * @param {OptionsJson | undefined} options
   */
  fill(options) {
    for (const { asked, write } of this.#controls) {
      write(numbersOf(this.kit, asked, options));
    }
    this.element.open ||= this.value !== undefined;
  }
}

/**
 * Return the list of options that differ from their defaults, or undefined if all are defaults.
 * @param {GameKit} kit
 * @param {number} players
 * @param {OptionsJson | undefined} options
 */
export function optionsTold(kit, players, options) {
  const lines = askedOf(kit, players).flatMap((asked) => {
    const numbers = numbersOf(kit, asked, options);
    return isDefault(asked, numbers) ? [] : [h("li", {}, lineOf(kit, asked, numbers))];
  });
  return lines.length === 0
    ? undefined
    : h("section", { class: "options" }, h("h2", {}, t("options")), h("ul", {}, lines));
}

/**
 * Return true if two choices of options mean the same game.
 * @param {GameKit} kit
 * @param {number} players
 * @param {OptionsJson | undefined} one
 * @param {OptionsJson | undefined} other
 */
export function playAlike(kit, players, one, other) {
  return askedOf(kit, players).every(
    (asked) => numbersOf(kit, asked, one).join() === numbersOf(kit, asked, other).join(),
  );
}

/**
 * List the options that have an effect for a number of players.
 * @param {GameKit} kit
 * @param {number} players
 * @returns {Asked[]}
 */
function askedOf({ info }, players) {
  return (info.options ?? []).flatMap((option) => {
    const range = option.ranges?.find((each) => each.players === players);
    return range ? [{ ...option, range }] : [];
  });
}

/**
 * @param {Asked} asked
 * @param {readonly number[]} numbers
 */
function isDefault({ range }, numbers) {
  return numbers.join() === (range.defaultValues ?? []).join();
}

/**
 * Return the numbers of an option, or its defaults if it was not chosen.
 * @param {GameKit} kit
 * @param {Asked} asked
 * @param {OptionsJson | undefined} options
 */
function numbersOf({ name: game, field }, asked, options) {
  const usual = asked.range.defaultValues ?? [];
  const chosen = /** @type {Record<string, unknown>} */ (options?.[field] ?? {})[inJson(asked.name ?? "")];
  if (chosen === undefined || chosen === null) {
    return usual;
  }
  const list = listOf(game, asked);
  if (list !== undefined) {
    // JSON has no list for an empty set.
    return /** @type {Record<string, number[]>} */ (chosen)[list] ?? [];
  }
  if (Array.isArray(chosen)) {
    return chosen.length === 0 ? usual : chosen;
  }
  return [Number(chosen)];
}

/**
 * Return an option's numbers as the value of its field.
 * @param {string} game
 * @param {Asked} asked
 * @param {readonly number[]} numbers
 */
function fieldValue(game, asked, numbers) {
  const list = listOf(game, asked);
  switch (asked.type) {
    case "OPTION_TYPE_FLAG":
      return numbers[0] === 1;
    case "OPTION_TYPE_NUMBER":
      return numbers[0];
    default:
      return list === undefined ? numbers : { [list]: numbers };
  }
}

/**
 * Return the name of the list in the message of a set, or undefined if the option is not a set.
 * @param {string} game
 * @param {Asked} asked
 */
function listOf(game, { name }) {
  return /** @type {Record<string, string>} */ (SetOptions)[`${game}.${name}`];
}

/**
 * @param {GameKit} kit
 * @param {Asked} asked
 * @returns {Control}
 */
function controlOf(kit, asked) {
  switch (asked.type) {
    case "OPTION_TYPE_FLAG":
      return flag(asked);
    case "OPTION_TYPE_NUMBER":
      return asked.pieceKind ? chooser(kit, asked) : number(asked);
    case "OPTION_TYPE_PIECES":
      return pieces(kit, asked);
    default:
      return numbers(kit, asked);
  }
}

/**
 * @param {Asked} asked
 * @returns {Control}
 */
function flag(asked) {
  const input = h("input", { type: "checkbox", name: asked.name });
  return {
    asked,
    element: h("label", {}, input, texts(asked)),
    read: () => [Number(input.checked)],
    write: ([value]) => (input.checked = value === 1),
  };
}

/**
 * @param {Asked} asked
 * @returns {Control}
 */
function number(asked) {
  const input = numberInput(asked);
  return {
    asked,
    element: h("label", {}, input, texts(asked)),
    read: () => [input.valueAsNumber],
    write: ([value]) => (input.value = String(value)),
  };
}

/**
 * Return the control of a seat or a piece. If there is no default, chance can choose.
 * @param {GameKit} kit
 * @param {Asked} asked
 * @returns {Control}
 */
function chooser(kit, asked) {
  const { lowest = 0, highest = 0, defaultValues = [] } = asked.range;
  const select = h(
    "select",
    { name: asked.name },
    defaultValues.length === 0 && h("option", { value: "" }, t("by-chance")),
    count(lowest, highest).map((value) => h("option", { value }, nameOf(kit, asked, value))),
  );
  return {
    asked,
    element: h("label", {}, select, texts(asked)),
    read: () => (select.value === "" ? [] : [Number(select.value)]),
    write: ([value]) => (select.value = String(value ?? "")),
  };
}

/**
 * @param {GameKit} kit
 * @param {Asked} asked
 * @returns {Control}
 */
function numbers(kit, asked) {
  const inputs = count(1, asked.range.length ?? 0).map(() => numberInput(asked));
  const labels = inputs.map((input, index) =>
    h("label", {}, h("span", {}, nameOfNumber(kit, asked, index)), input),
  );
  return {
    asked,
    element: group(asked, labels),
    read: () => inputs.map((input) => input.valueAsNumber),
    write: (values) => inputs.forEach((input, index) => (input.value = String(values[index]))),
  };
}

/**
 * @param {GameKit} kit
 * @param {Asked} asked
 * @returns {Control}
 */
function pieces(kit, asked) {
  const { lowest = 0, highest = 0 } = asked.range;
  const boxes = count(lowest, highest).map((value) =>
    h("input", { type: "checkbox", name: asked.name, value }),
  );
  const labels = boxes.map((box) =>
    h("label", {}, box, h("span", {}, nameOf(kit, asked, Number(box.value)))),
  );
  return {
    asked,
    element: group(asked, labels),
    read: () => boxes.flatMap(({ checked, value }) => (checked ? [Number(value)] : [])),
    write: (values) => boxes.forEach((box) => (box.checked = values.includes(Number(box.value)))),
  };
}

/** @param {Asked} asked */
function numberInput({ name, range }) {
  const { lowest = 0, highest } = range;
  return h("input", { type: "number", name, min: lowest, max: highest, required: true });
}

/**
 * @param {Asked} asked
 * @param {readonly HTMLElement[]} labels
 */
function group({ title, description }, labels) {
  const all = h("div", { class: "many" }, labels);
  const content = labels.length > FEW ? h("details", {}, h("summary", {}, t("change")), all) : all;
  return h("fieldset", {}, h("legend", {}, title), h("p", {}, description), content);
}

/** @param {Asked} asked */
function texts({ title, description }) {
  return h("span", {}, h("strong", {}, title), " ", h("small", {}, description));
}

/**
 * Return the text of an option and its value. For a list about pieces it names the pieces whose values differ from the
 * default.
 * @param {GameKit} kit
 * @param {Asked} asked
 * @param {readonly number[]} numbers
 */
function lineOf(kit, asked, numbers) {
  const { title = "", type, indexKind, range } = asked;
  if (type === "OPTION_TYPE_FLAG") {
    return title;
  }
  const usual = range.defaultValues ?? [];
  const values = indexKind
    ? numbers.flatMap((value, index) =>
        value === usual[index] ? [] : [t("option-is", { title: nameOfNumber(kit, asked, index), value })],
      )
    : numbers.map((value) => nameOf(kit, asked, value));
  return t("option-is", { title, value: values.join(", ") || t("option-none") });
}

/**
 * Return the name of an option's value.
 * @param {GameKit} kit
 * @param {Asked} asked
 * @param {number} value
 */
function nameOf({ phrases }, { pieceKind }, value) {
  return pieceKind === "seat"
    ? nameOfSeat(value)
    : pieceKind
      ? phrases.nameOf(pieceKind, value)
      : String(value);
}

/**
 * Return the name of an entry of a list: a piece, or the entry's place from 1.
 * @param {GameKit} kit
 * @param {Asked} asked
 * @param {number} index
 */
function nameOfNumber({ phrases }, { indexKind }, index) {
  return indexKind ? phrases.nameOf(indexKind, index) : String(index + 1);
}

/**
 * @param {number} first
 * @param {number} last
 */
function count(first, last) {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** @param {EventTarget | null} target */
function openAround(target) {
  for (let each = target instanceof Element ? target.closest("details") : null; each;) {
    each.open = true;
    each = each.parentElement?.closest("details") ?? null;
  }
}
