const WIDTH = 860;
const LABEL_WIDTH = 360;
const ROW = 26;
const TOP = 44;
/** Bars end here, at this multiple of the reach; longer ones are cut and marked with an arrow. */
const LONGEST = 2;

/** Draws one bar per row, as a share of its reach (the line); `undefined` if no row has a reach. */
export function drawChart(title, rows) {
  const bars = rows.flatMap(toBar);
  if (bars.length === 0) return undefined;
  const height = TOP + bars.length * ROW + 30;
  const scale = (WIDTH - LABEL_WIDTH - 130) / LONGEST;
  const line = LABEL_WIDTH + scale;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="#444">
<title>${escapeXml(title)}</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="12" y="22" font-size="15" font-weight="600">${escapeXml(title)}</text>
${bars.map((bar, index) => drawBar(bar, TOP + index * ROW, scale)).join("\n")}
<line x1="${line}" x2="${line}" y1="${TOP - 4}" y2="${height - 24}" stroke="#222" stroke-dasharray="4 3"/>
<text x="${line}" y="${height - 10}" text-anchor="middle">reach (left of the line: reached)</text>
</svg>
`;
}

function toBar({ work, who, unit, reach, median }) {
  const bound = /([≤≥])\s*([\d.]+)/.exec(reach ?? "");
  if (!bound || who !== undefined) return [];
  const limit = Number(bound[2]);
  return [
    { work, reach, figure: `${median} ${unit}`, share: bound[1] === "≤" ? median / limit : limit / median },
  ];
}

function drawBar({ work, reach, figure, share }, y, scale) {
  const length = Math.max(2, Math.min(share, LONGEST) * scale);
  const colour = share <= 1 ? "#2e8b57" : "#c0603a";
  const value = `${figure}${share > LONGEST ? " →" : ""}`;
  return `<text x="${LABEL_WIDTH - 8}" y="${y + 15}" text-anchor="end">${escapeXml(shorten(work, 56))}<title>${escapeXml(`${work}: reach ${reach}`)}</title></text>
<rect x="${LABEL_WIDTH}" y="${y + 3}" width="${length.toFixed(1)}" height="${ROW - 9}" rx="2" fill="${colour}"/>
<text x="${(LABEL_WIDTH + length + 6).toFixed(1)}" y="${y + 15}">${escapeXml(shorten(value, 22))}</text>`;
}

function shorten(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

function escapeXml(text) {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
