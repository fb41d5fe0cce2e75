// Draws the recorded figures: one SVG for each table of results, each bar the figure as a share of its reach.
//
//   node bench/charts.mjs [file.md …]      (default: docs/benchmarks.md and bench/results/*.md)
//
// A table is a chart if it has a column "reach" with a bound (≤ 1.3 ×, ≥ 0.7 ×, ≤ 10 ms) and a column "measured" or
// "best". Of several runs in a cell the median counts. Rows without figures are named and left out.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const OUT = join(ROOT, "docs", "charts");
const WIDTH = 860;
const LABEL_WIDTH = 360;
const ROW = 26;
const TOP = 44;
/** Bars end here, at this multiple of the reach; what is longer is cut and says so. */
const LONGEST = 2;

const files = process.argv.length > 2 ? process.argv.slice(2) : defaultFiles();
mkdirSync(OUT, { recursive: true });
let drawn = 0;
for (const file of files) {
  for (const { title, rows } of readTables(file)) {
    const name = `${slug(title)}.svg`;
    writeFileSync(join(OUT, name), draw(title, rows));
    console.log(`![${title}](charts/${name})`);
    drawn++;
  }
}
if (drawn === 0) {
  console.error('No table with a column "reach" and figures was found.');
  process.exitCode = 1;
}

function defaultFiles() {
  const results = join(ROOT, "bench", "results");
  const recorded = existsSync(results) ? readdirSync(results).filter((name) => name.endsWith(".md")) : [];
  return [join(ROOT, "docs", "benchmarks.md"), ...recorded.map((name) => join(results, name))].filter(
    existsSync,
  );
}

/** The tables of a file that can be drawn, each under the heading before it. */
function readTables(file) {
  const tables = [];
  let title = basename(file, ".md");
  let table;
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const heading = /^#+ (.+)/.exec(line);
    if (heading) title = heading[1].replaceAll("`", "");
    if (!line.startsWith("|")) {
      table = undefined;
      continue;
    }
    const cells = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (table) {
      const row = readRow(cells, table.columns);
      if (row) table.rows.push(row);
      continue;
    }
    const columns = {
      reach: cells.indexOf("reach"),
      measured: cells.findIndex((cell) => /^(measured|best)$/.test(cell)),
    };
    table = { title, columns, rows: [] };
    tables.push(table);
  }
  return tables.filter(({ rows }) => rows.length > 0);
}

function readRow(cells, { reach, measured }) {
  const bound = /([≤≥<>])\s*([\d.,]+)\s*(ms|s|MB|KB|GB|%|×)?/.exec(cells[reach] ?? "");
  // "0.86, 0.96": the runs that were made. Notes after the figures are not figures.
  const figures = [
    ...(cells[measured] ?? "").matchAll(/(?:^|, )(-?\d[\d.]*)\s*(ms|s|MB|KB|GB|%|×)?(?=$|,| )/g),
  ];
  if (!bound || figures.length === 0) {
    if (reach !== -1 && !/^[-: ]*$/.test(cells[0])) console.error(`left out: ${cells[0]}`);
    return undefined;
  }
  const limit = number(bound[2]);
  const figure = median(figures.map(([, value]) => number(value)));
  const unit = figures[0][2] ?? bound[3] ?? "";
  const share = /[≤<]/.test(bound[1]) ? figure / limit : limit / figure;
  return {
    work: cells[0].replaceAll("`", "").replaceAll("**", ""),
    reach: cells[reach].replaceAll("`", ""),
    figure,
    unit,
    share,
  };
}

function draw(title, rows) {
  const height = TOP + rows.length * ROW + 30;
  const scale = (WIDTH - LABEL_WIDTH - 130) / LONGEST;
  const bars = rows.map(({ work, reach, figure, unit, share }, index) => {
    const y = TOP + index * ROW;
    const length = Math.max(2, Math.min(share, LONGEST) * scale);
    const cut = share > LONGEST ? " →" : "";
    return [
      `<text x="${LABEL_WIDTH - 8}" y="${y + 15}" text-anchor="end">${escapeXml(shorten(work, 56))}<title>${escapeXml(`${work}: reach ${reach}`)}</title></text>`,
      `<rect x="${LABEL_WIDTH}" y="${y + 3}" width="${length.toFixed(1)}" height="${ROW - 9}" rx="2" fill="${share <= 1 ? "#2e8b57" : "#c0603a"}"/>`,
      `<text x="${(LABEL_WIDTH + length + 6).toFixed(1)}" y="${y + 15}">${escapeXml(`${figure} ${unit}${cut}`)}</text>`,
    ].join("\n");
  });
  const line = LABEL_WIDTH + scale;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="#444">
<title>${escapeXml(title)}</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="12" y="22" font-size="15" font-weight="600">${escapeXml(title)}</text>
${bars.join("\n")}
<line x1="${line}" x2="${line}" y1="${TOP - 4}" y2="${height - 24}" stroke="#222" stroke-dasharray="4 3"/>
<text x="${line}" y="${height - 10}" text-anchor="middle">reach (left of the line: reached)</text>
</svg>
`;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

function number(text) {
  return Number(text.replaceAll(",", ""));
}

function shorten(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

function slug(title) {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}

function escapeXml(text) {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
