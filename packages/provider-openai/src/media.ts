import { MediaFitter, type MediaLimits, type Notices } from "@agent/core/provider";
import type { OpenAISettings } from "./options.js";

const IMAGES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const PDF = "application/pdf";

/** OpenAI's documented limits: 50 MB for a request, a quarter of it for base64. Other servers document none. */
const OWN_LIMITS: MediaLimits = { images: 500, totalBytes: 37 * 1024 * 1024 };

/** Removes images and files that this server would refuse from requests. */
export function mediaFitter({ isOwn }: OpenAISettings, notices: Notices): MediaFitter {
  return new MediaFitter(isOwn ? OWN_LIMITS : {}, notices);
}

/** Whether this server's models accept content of a media type: from the options, or as documented for the API. */
export function acceptsMedia({ accepts, isOwn, facts }: OpenAISettings, mediaType: string): boolean {
  if (accepts) return accepts.includes(mediaType);
  if (facts?.images === false) return false;
  return IMAGES.includes(mediaType) || (isOwn && mediaType === PDF);
}
