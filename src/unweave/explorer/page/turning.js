// How a code is turned: a number slides, a category is chosen, an angle goes round.
// The server does the same in views/turning.py.

export const STEPS = 9; // images in a line of a number or an angle

/** The values a unit runs through, between the ends of its slider. */
export function valuesOf(unit, low, high) {
  if (unit.kind === "category") return Array.from({ length: unit.size }, (_, choice) => choice);
  const [from, to] = endsOf(unit, low, high);
  return Array.from({ length: STEPS }, (_, i) => from + ((to - from) * i) / (STEPS - 1));
}

/** The ends of a unit's slider. */
export function endsOf(unit, low, high) {
  return unit.kind === "angle" ? [-Math.PI, Math.PI] : [low, high];
}

/** Put a unit of a code to a value. */
export function place(code, unit, value) {
  if (unit.kind === "category") {
    for (let i = 0; i < unit.size; i++) code[unit.first + i] = i === value ? 1 : 0;
  } else if (unit.kind === "angle") {
    [code[unit.first], code[unit.first + 1]] = [Math.cos(value), Math.sin(value)];
  } else code[unit.first] = value;
}

/** At which value a unit of a code is. */
export function valueIn(code, unit) {
  if (unit.kind === "category") {
    const chances = Array.from(code).slice(unit.first, unit.first + unit.size);
    return chances.indexOf(Math.max(...chances));
  }
  return unit.kind === "angle" ? Math.atan2(code[unit.first + 1], code[unit.first]) : code[unit.first];
}
