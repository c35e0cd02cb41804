// What the pages of the documentation do beyond being read: the theme, the menu of small screens, code to copy, the viewer's own key, and
// trying operations. It is loaded before anything is painted, for the theme.
import "../shared/tokens.css";
import "./style.css";
import { menu, search } from "./frame";
import { code } from "./code";
import { keys } from "./key";
import { theme } from "./theme";
import { tries } from "./try";

const ready = theme();
addEventListener("DOMContentLoaded", () => {
  document.documentElement.classList.add("js");
  ready();
  menu();
  search();
  code();
  if (document.getElementById("key-dialog")) {
    keys();
    tries();
  }
});
