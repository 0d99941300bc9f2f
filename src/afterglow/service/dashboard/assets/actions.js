// Opens the forms of actions in a dialog.
"use strict";

const dialog = document.getElementById("dialog");
let opener = ""; // id of the button; the element itself is replaced with every update

function buttons() {
  for (const link of document.querySelectorAll(".action-buttons .button")) {
    link.setAttribute("role", "button");
    link.setAttribute("aria-haspopup", "dialog");
  }
}

document.addEventListener("keydown", (event) => {
  if (event.key !== " " || !event.target.matches?.(".action-buttons .button")) return;
  event.preventDefault(); // a link would scroll
  event.target.click();
});
document.addEventListener("htmx:oobAfterSwap", buttons);
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id !== "sheet") return;
  if (!dialog.open) {
    opener = event.detail.requestConfig.elt.id;
    dialog.showModal();
  }
  const wrong = dialog.querySelector(".wrong input, .wrong select");
  (wrong ?? dialog.querySelector("input:not([type=hidden]), select, button")).focus();
});
dialog.addEventListener("close", () => document.getElementById(opener)?.focus());
dialog.addEventListener("click", (event) => {
  if (event.target !== dialog && !event.target.closest(".cancel")) return;
  event.preventDefault();
  dialog.close();
});
buttons();
