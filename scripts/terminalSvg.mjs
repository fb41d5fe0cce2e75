// Turns a captured terminal screen into an SVG, for the docs:
//   tmux capture-pane -ep | node scripts/terminalSvg.mjs "A chat with the agent" > picture.svg
import { readFileSync } from "node:fs";

const CELL = { width: 8.4, height: 18 };
const MARGIN = 16;
const BACKGROUND = "#16181d";
const TEXT = "#d8dee9";
const COLOURS = ["#3b4252", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9"];
const BRIGHT = ["#7f848e", "#ff7b86", "#b5e890", "#ffd68a", "#7fc4ff", "#dd92f0", "#6fd6e3", "#ffffff"];

const lines = readLines(readFileSync(0, "utf8").replace(/\s+$/, "").split("\n"));
const columns = Math.max(...lines.map((spans) => spans.reduce((sum, { text }) => sum + [...text].length, 0)));
const width = Math.ceil(columns * CELL.width + 2 * MARGIN);
const height = lines.length * CELL.height + 2 * MARGIN;
process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>${escapeXml(process.argv[2] ?? "A terminal")}</title>
<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>
<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14">
${lines.map(drawLine).join("\n")}
</g>
</svg>
`);

/**
 * Splits each line into pieces of one style, which continues in the next line. Only colours, bold, dim, inverse and their
 * resets occur in what tmux prints.
 */
function readLines(texts) {
  let style = {};
  return texts.map((text) => {
    const spans = [];
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what this reads
    for (const piece of text.split(/(\u001b\[[\d;]*m)/)) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what this reads
      const codes = /^\u001b\[([\d;]*)m$/.exec(piece)?.[1];
      if (codes !== undefined) style = codes.split(";").reduce(applyCode, style);
      else if (piece !== "") spans.push({ text: piece, style });
    }
    return spans;
  });
}

function applyCode(style, text) {
  const code = Number(text);
  if (code === 0) return {};
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 7) return { ...style, inverse: true };
  if (code === 27) return { ...style, inverse: false };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code >= 30 && code <= 37) return { ...style, colour: COLOURS[code - 30] };
  if (code >= 90 && code <= 97) return { ...style, colour: BRIGHT[code - 90] };
  return code === 39 ? { ...style, colour: undefined } : style;
}

function drawLine(spans, row) {
  const y = MARGIN + (row + 0.75) * CELL.height;
  let column = 0;
  const boxes = [];
  const pieces = spans.map(({ text, style: { colour = TEXT, bold, dim, inverse } }) => {
    const x = MARGIN + column * CELL.width;
    const length = [...text].length;
    column += length;
    if (inverse) {
      boxes.push(
        `<rect x="${x.toFixed(1)}" y="${MARGIN + row * CELL.height}" width="${(length * CELL.width).toFixed(1)}" height="${CELL.height}" fill="${colour}"/>`,
      );
    }
    const attributes = [
      `fill="${inverse ? BACKGROUND : colour}"`,
      bold && 'font-weight="bold"',
      dim && 'opacity="0.6"',
    ].filter(Boolean);
    const fitted = `textLength="${(length * CELL.width).toFixed(1)}" lengthAdjust="spacingAndGlyphs"`;
    return `<tspan x="${x.toFixed(1)}" ${fitted} ${attributes.join(" ")}>${withFixedBlanks(escapeXml(text))}</tspan>`;
  });
  return `${boxes.join("")}<text y="${y.toFixed(1)}">${pieces.join("")}</text>`;
}

function escapeXml(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** Non-breaking spaces: some renderers collapse several spaces into one and drop those at the start. */
function withFixedBlanks(text) {
  return text.replaceAll(" ", "\u00a0");
}
