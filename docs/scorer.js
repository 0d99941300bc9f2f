// What a hit counts in the search: as Sphinx has it, but guides before proofs, and history last.
const FIRST = ["guides/", "reference/"];
const LAST = ["changelog", "contributing", "decisions/", "speed"];
var Scorer = {
  score: ([page, title, anchor, description, score]) => {
    const among = (places) => places.some((place) => page.startsWith(place));
    return score + (among(FIRST) ? 3 : 0) - (among(LAST) ? 3 : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
