/** `$0.0123`, `$1.20`: at least two significant digits, also of small amounts. */
export function formatCost(dollars: number): string {
  if (dollars === 0) return "$0";
  const digits = dollars >= 1 ? 2 : Math.min(6, 1 - Math.floor(Math.log10(dollars)));
  return `$${dollars.toFixed(digits)}`;
}
