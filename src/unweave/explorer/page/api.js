// Asking the server; every answer is JSON, and an error says what is wrong.

async function answered(response) {
  if (response.ok) return response.json();
  const content = await response.json().catch(() => ({}));
  throw new Error(content.error ?? response.statusText);
}

export async function getJson(address) {
  return answered(await fetch(address));
}

export async function post(address, body) {
  return answered(await fetch(address, { method: "POST", body }));
}

export async function getBytes(address) {
  const response = await fetch(address);
  if (!response.ok) await answered(response);
  return new Uint8Array(await response.arrayBuffer());
}

/** The address of a run, or of something of it. */
export function runAddress(name, rest = "") {
  const known = name.toWellFormed?.() ?? name; // names of folders need not be text
  return "/runs/" + known.split("/").map(encodeURIComponent).join("/") + rest;
}
