// One word in the corner: a run that is training, or a server that does not answer.

const place = document.getElementById("live");

/** Say that the server answers, and whether what is shown is changing. */
export function sayHere(isTraining = false) {
  place.classList.remove("gone");
  say(isTraining ? "● live" : "");
}

/** Say that nothing here is followed any more, and what to do. */
export function sayGone(error) {
  place.classList.add("gone");
  say(`○ ${error.message}`);
}

function say(text) {
  if (place.textContent !== text) place.textContent = text; // read aloud only when it changes
}
