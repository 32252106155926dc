// Search of the site. search_units.js, which the build writes, defines UNITS: title, address,
// context, a sentence, further words.

/** The words of a text, reduced to their stems: "clipping" and "clip" are one word. */
function stems(text) {
  const spaced = text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([a-z])(\d+d)\b/gi, "$1 $2");
  const words = spaced.toLowerCase().match(/[\p{L}0-9]+/gu) ?? [];
  return words.filter((word) => !COMMON.has(word)).map((word) => {
    const stem = word.replace(/(?<=...)(ations?|ions?|ings?|ers?|ed|es|e|s)$/, "");
    return stem.replace(/([b-df-hj-np-tv-z])\1$/, "$1");
  });
}

const COMMON = new Set(("a an and are as at be by can do does for from how i in into is it its my of on or " +
  "that the this to tt tinytorch torch what which with").split(" "));

/** The index: for each stem the units that have it, with the weight of the best place. */
function index(units) {
  const places = new Map();
  units.forEach(([title, , context, sentence, words], unit) => {
    const last = title.split(".").at(-1);
    const own = stems(/^[\w.]+$/.test(title) ? last : title);
    const fields = [[words, 1], [title, 2], [context, 3], [sentence, 4]];
    for (const [text, weight] of fields) for (const stem of stems(text)) add(places, stem, unit, weight);
    for (const stem of own) add(places, stem, unit, 6 + 4 / own.length);
  });
  return places;
}

function add(places, stem, unit, weight) {
  if (!places.has(stem)) places.set(stem, new Map());
  const found = places.get(stem);
  found.set(unit, Math.max(weight, found.get(unit) ?? 0));
}

/** The units that have a stem, or one that begins as it does, with their weights. */
function match(places, stem) {
  const found = new Map();
  for (const [other, units] of places) {
    const short = Math.min(stem.length, other.length);
    const related = short >= 3 && (other.startsWith(stem) || (short >= 4 && stem.startsWith(other)));
    if (stem !== other && !related) continue;
    const quality = stem === other ? 1 : 0.6;
    for (const [unit, weight] of units) {
      found.set(unit, Math.max(weight * quality, found.get(unit) ?? 0));
    }
  }
  return found;
}

/** A factor for the kind of a unit: guides come first, members of classes late. */
function likelihood([title, address, context], query) {
  if (context === "Unsupported names") return 0.2;
  if (!address.startsWith("reference/")) return 1.5;
  const numpys = title.startsWith("tinytorch.numpy.") && !/\b(np|numpy)\b/i.test(query);
  return (numpys ? 0.8 : 1) * (context.startsWith("Member of ") ? 0.8 : 1);
}

/** The positions of the units that answer a query, best first. */
function rank(units, places, query) {
  const scores = new Map();
  const wanted = [...new Set(stems(query))];
  for (const stem of wanted) {
    const found = match(places, stem);
    const rarity = Math.log(1 + units.length / (1 + found.size));
    for (const [unit, weight] of found) {
      const [score, count] = scores.get(unit) ?? [0, 0];
      scores.set(unit, [score + weight * rarity, count + 1]);
    }
  }
  const name = query.trim().replace(/^(tt|torch|tinytorch)\./, "").replace(/\(.*/, "");
  const value = (unit, [score, count]) => {
    const [title] = units[unit];
    const exact = title === name || title.endsWith(`.${name}`) ? 100 : 0;
    return (score * (count / wanted.length) ** 2 + exact) * likelihood(units[unit], query);
  };
  return [...scores].map(([unit, found]) => [unit, value(unit, found)])
    .sort(([one, a], [other, b]) => b - a || one - other).map(([unit]) => unit);
}

/** Write the answers to the query in the page's address. */
function show(list, status) {
  const query = new URLSearchParams(location.search).get("q") ?? "";
  for (const input of document.querySelectorAll("input[name=q]")) input.value = query;
  const found = rank(UNITS, index(UNITS), query).slice(0, 50);
  status.textContent = !query.trim() ? "Type what you look for, for example “learning rate schedule”."
    : found.length ? `Results for “${query}”` : `Nothing matches “${query}”.`;
  list.replaceChildren(...found.map((unit) => {
    const [title, address, context, sentence] = UNITS[unit];
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = address;
    const parts = title.split(/(?<=\.)/).flatMap((part) => [part, document.createElement("wbr")]);
    link.append(...parts);
    const place = document.createElement("small");
    place.textContent = context;
    const text = document.createElement("p");
    text.textContent = sentence;
    item.append(link, " ", place, text);
    return item;
  }));
}
