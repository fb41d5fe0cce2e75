import type { OpenAISettings } from "./options.js";

const IMAGES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const PDF = "application/pdf";

/** Whether this server's models take content of a media type: what the options say, or what the API documents. */
export function acceptsMedia({ accepts, isOwn }: OpenAISettings, mediaType: string): boolean {
  if (accepts) return accepts.includes(mediaType);
  return IMAGES.includes(mediaType) || (isOwn && mediaType === PDF);
}
