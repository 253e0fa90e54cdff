"use strict";
// What the scripts of pages that are served share. Texts from outside are set as text alone, never
// as markup. The page holds its words as JSON.
const $ = (id) => document.getElementById(id);
const words = JSON.parse($("words").textContent);
$("scriptless").hidden = true;

function fill(key, values) {
  return words[key].replace(/\[(\w+)(?::([^|\]]*)\|([^\]]*))?\]/g, (whole, name, one, several) => {
    if (!(name in values)) return whole;
    return several === undefined ? values[name] : values[name] === 1 ? one : several;
  });
}

// As other pages show text from outside: what would turn letters round, or be none, is a sign.
const legible = (text) => text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g, "\ufffd");

// An element that says nothing is hidden; one that news are read out from stays.
function say(id, text) {
  $(id).textContent = legible(text);
  $(id).hidden = text === "" && $(id).getAttribute("role") !== "status";
}

function made(name, text, ...inner) {
  const found = document.createElement(name);
  found.textContent = legible(text);
  found.append(...inner);
  return found;
}

// What the service answers, an object; an Error with what it says is wrong.
async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(path, { redirect: "error", ...options });
  } catch {
    throw new Error(words.away);
  }
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(found.detail ?? `${answer.status}`);
  return found;
}
