// The options of a game, as the service describes them: what is asked of whoever begins one, and what is told of those chosen.

import { h } from "./dom.js";
import { nameOfSeat } from "./seat_names.js";
import { t } from "./settings.js";
import { SetOptions } from "./shared/fields.js";

/** @import { OptionInfoJson, OptionsJson, OptionRangeJson } from "#api/chatiere/v1/game_pb.js" */
/** @typedef {import("./games.js").Room} Room */
/** @typedef {OptionInfoJson & {range: OptionRangeJson}} Asked */
/**
 * An option in the form: its element, and the numbers that it stands for, none for chance.
 * @typedef {{asked: Asked, element: HTMLElement, read: () => number[], write: (numbers: readonly number[]) => void}} Control
 */

/** More numbers than these are out of sight, until somebody wants to see them. */
const FEW = 8;

/** The part of a form that asks for the options of a game. */
export class OptionsForm {
  /** @type {Control[]} */
  #controls = [];

  /** @param {Room} room */
  constructor(room) {
    this.room = room;
    this.fields = h("div", {});
    this.element = h("details", { class: "options" }, h("summary", {}, t("options")), this.fields);
    // Browsers don't show what is wrong in a part that is closed.
    this.element.addEventListener("invalid", ({ target }) => openAround(target), true);
  }

  /**
   * Ask for the options that there are with a number of players; those chosen before stay, as far as these are among them.
   * @param {number} players
   */
  show(players) {
    const before = this.value;
    this.#controls = askedOf(this.room, players).map((asked) => controlOf(this.room, asked));
    this.fields.replaceChildren(...this.#controls.map(({ element }) => element));
    this.fill(before);
  }

  /** The options that are no defaults; undefined if there are none. */
  get value() {
    const chosen = this.#controls.flatMap(({ asked, read }) => {
      const numbers = read();
      return isDefault(asked, numbers)
        ? []
        : [[inJson(asked.name), fieldValue(this.room.name, asked, numbers)]];
    });
    const options = Object.fromEntries(chosen);
    return chosen.length === 0 ? undefined : /** @type {OptionsJson} */ ({ [this.room.field]: options });
  }

  /**
   * Fill the form in; all that is not among the options is left at its default.
   * @param {OptionsJson | undefined} options
   */
  fill(options) {
    for (const { asked, write } of this.#controls) {
      write(numbersOf(this.room, asked, options));
    }
    this.element.open ||= this.value !== undefined;
  }
}

/**
 * Return the part of the page that tells which options were chosen; undefined if all are defaults.
 * @param {Room} room
 * @param {number} players
 * @param {OptionsJson | undefined} options
 */
export function optionsTold(room, players, options) {
  const lines = askedOf(room, players).flatMap((asked) => {
    const numbers = numbersOf(room, asked, options);
    return isDefault(asked, numbers) ? [] : [h("li", {}, lineOf(room, asked, numbers))];
  });
  return lines.length === 0
    ? undefined
    : h("section", { class: "options" }, h("h2", {}, t("options")), h("ul", {}, lines));
}

/**
 * Return whether games with one choice of options and with another are played alike.
 * @param {Room} room
 * @param {number} players
 * @param {OptionsJson | undefined} one
 * @param {OptionsJson | undefined} other
 */
export function playAlike(room, players, one, other) {
  return askedOf(room, players).every(
    (asked) => numbersOf(room, asked, one).join() === numbersOf(room, asked, other).join(),
  );
}

/**
 * List the options that have an effect with a number of players.
 * @param {Room} room
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
 * Return the numbers of an option, by default those of the game.
 * @param {Room} room
 * @param {Asked} asked
 * @param {OptionsJson | undefined} options
 */
function numbersOf({ name: game, field }, asked, options) {
  const usual = asked.range.defaultValues ?? [];
  const chosen = /** @type {Record<string, unknown>} */ (options?.[field] ?? {})[inJson(asked.name)];
  if (chosen === undefined || chosen === null) {
    return usual;
  }
  const list = listOf(game, asked);
  if (list !== undefined) {
    // A set may be empty, a list is absent then.
    return /** @type {Record<string, number[]>} */ (chosen)[list] ?? [];
  }
  if (Array.isArray(chosen)) {
    return chosen.length === 0 ? usual : chosen;
  }
  return [Number(chosen)];
}

/**
 * Return an option's numbers as its field has them.
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
 * Return the field of the message that a set of pieces is; undefined for other options.
 * @param {string} game
 * @param {Asked} asked
 */
function listOf(game, { name }) {
  return /** @type {Record<string, string>} */ (SetOptions)[`${game}.${name}`];
}

/** @param {string | undefined} name */
function inJson(name = "") {
  return name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
}

/**
 * @param {Room} room
 * @param {Asked} asked
 * @returns {Control}
 */
function controlOf(room, asked) {
  switch (asked.type) {
    case "OPTION_TYPE_FLAG":
      return flag(asked);
    case "OPTION_TYPE_NUMBER":
      return asked.pieceKind ? chooser(room, asked) : number(asked);
    case "OPTION_TYPE_PIECES":
      return pieces(room, asked);
    default:
      return numbers(room, asked);
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
 * Ask for a seat or a piece; chance is what chooses one if there is no default.
 * @param {Room} room
 * @param {Asked} asked
 * @returns {Control}
 */
function chooser(room, asked) {
  const { lowest = 0, highest = 0, defaultValues = [] } = asked.range;
  const select = h(
    "select",
    { name: asked.name },
    defaultValues.length === 0 && h("option", { value: "" }, t("by-chance")),
    count(lowest, highest).map((value) => h("option", { value }, nameOf(room, asked, value))),
  );
  return {
    asked,
    element: h("label", {}, select, texts(asked)),
    read: () => (select.value === "" ? [] : [Number(select.value)]),
    write: ([value]) => (select.value = String(value ?? "")),
  };
}

/**
 * @param {Room} room
 * @param {Asked} asked
 * @returns {Control}
 */
function numbers(room, asked) {
  const inputs = count(1, asked.range.length ?? 0).map(() => numberInput(asked));
  const labels = inputs.map((input, index) =>
    h("label", {}, h("span", {}, nameOfNumber(room, asked, index)), input),
  );
  return {
    asked,
    element: group(asked, labels),
    read: () => inputs.map((input) => input.valueAsNumber),
    write: (values) => inputs.forEach((input, index) => (input.value = String(values[index]))),
  };
}

/**
 * @param {Room} room
 * @param {Asked} asked
 * @returns {Control}
 */
function pieces(room, asked) {
  const { lowest = 0, highest = 0 } = asked.range;
  const boxes = count(lowest, highest).map((value) =>
    h("input", { type: "checkbox", name: asked.name, value }),
  );
  const labels = boxes.map((box) =>
    h("label", {}, box, h("span", {}, nameOf(room, asked, Number(box.value)))),
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
 * Write an option and what was chosen: of a list about pieces the pieces that differ from the default.
 * @param {Room} room
 * @param {Asked} asked
 * @param {readonly number[]} numbers
 */
function lineOf(room, asked, numbers) {
  const { title = "", type, indexKind, range } = asked;
  if (type === "OPTION_TYPE_FLAG") {
    return title;
  }
  const usual = range.defaultValues ?? [];
  const values = indexKind
    ? numbers.flatMap((value, index) =>
        value === usual[index] ? [] : [t("option-is", { title: nameOfNumber(room, asked, index), value })],
      )
    : numbers.map((value) => nameOf(room, asked, value));
  return t("option-is", { title, value: values.join(", ") || t("option-none") });
}

/**
 * Return what one of the numbers of an option names.
 * @param {Room} room
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
 * Return what a number of a list is about: a piece, or its place.
 * @param {Room} room
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
