// Asking the server; every answer is JSON, and an error says what is wrong.
// A page in one file has the answers inside.

const stored = new Map(); // by address

/** Take answers that come with the page. */
export function store(answers) {
  for (const [address, answer] of Object.entries(answers)) stored.set(address, answer);
}

/** There is no answer at all, not even that something is wrong. */
export class Unreachable extends Error {}

async function asked(address, how) {
  try {
    return await fetch(address, how);
  } catch {
    throw new Unreachable("the explorer does not answer: start `unweave explore` again");
  }
}

async function answered(response) {
  if (response.ok) return response.json();
  const content = await response.json().catch(() => ({}));
  throw new Error(content.error ?? response.statusText);
}

export async function getJson(address) {
  if (stored.has(address)) return structuredClone(stored.get(address));
  return answered(await asked(address));
}

export async function post(address, body) {
  return answered(await asked(address, { method: "POST", body }));
}

export async function getBytes(address) {
  const response = await asked(address);
  if (!response.ok) await answered(response);
  return new Uint8Array(await response.arrayBuffer());
}

/** The address of a run, or of something of it. */
export function runAddress(name, rest = "") {
  const known = name.toWellFormed?.() ?? name; // names of folders need not be text
  return "/runs/" + known.split("/").map(encodeURIComponent).join("/") + rest;
}
