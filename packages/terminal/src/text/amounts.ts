const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago something was, as a user says it: `just now`, `5 min ago`, `3 days ago`. */
export function formatAge(milliseconds: number): string {
  if (!(milliseconds >= MINUTE)) return "just now";
  if (milliseconds < HOUR) return `${Math.floor(milliseconds / MINUTE)} min ago`;
  if (milliseconds < DAY) return `${Math.floor(milliseconds / HOUR)} h ago`;
  const days = Math.floor(milliseconds / DAY);
  return days === 1 ? "yesterday" : `${days} days ago`;
}

/** `812 bytes`, `12 KB`, `3.4 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
