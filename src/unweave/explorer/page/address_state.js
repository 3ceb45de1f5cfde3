// What is shown is kept in the address after #, so that a link or a bookmark shows the same.
// Nothing after # is sent to a server.

const SOON = 150; // milliseconds; browsers refuse too many changes of the address
let timer = 0;

function words() {
  return new URLSearchParams(location.hash.slice(1));
}

/** One part of the state, or null. */
export function remembered(name) {
  return words().get(name);
}

/** Keep a part of the state; null forgets it. */
export function remember(changes) {
  Object.assign(waiting, changes);
  clearTimeout(timer);
  timer = setTimeout(write, SOON);
}

const waiting = {};

function write() {
  const kept = words();
  for (const [name, value] of Object.entries(waiting)) {
    if (value === null || value === undefined || value === "") kept.delete(name);
    else kept.set(name, value);
    delete waiting[name];
  }
  // Commas and colons may stand there as they are, and are easier to read so.
  const text = kept.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
  history.replaceState(null, "", `#${text}`);
}

/** The address of what is shown now. */
export function link() {
  clearTimeout(timer);
  write();
  return location.href;
}

/** A code as it stands in an address: short, and the same image. */
export function codeToText(code) {
  return Array.from(code, (value) => String(Number(value.toPrecision(6)))).join(",");
}

/** A code out of an address, or null if it is none of that many numbers. */
export function textToCode(text, size) {
  const code = (text ?? "").split(",").map(Number);
  return code.length === size && text && code.every(Number.isFinite) ? code : null;
}
