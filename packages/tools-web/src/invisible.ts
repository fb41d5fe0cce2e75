// Control and format characters and letters that show nothing: a page can hide instructions in them or reorder text. Line
// breaks, tabs, joiners, variation selectors and the signs of the Arabic script are kept.
const INVISIBLE =
  /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}](?<![\t\n\r\u0600-\u0605\u06dd\u08e2\p{Variation_Selector}\p{Join_Control}])/gu;
// One joiner or variation selector after a character is ordinary. More of them, and selectors for ideographs elsewhere,
// spell out hidden text.
const REPEATED =
  /\p{Join_Control}(?<=\p{Join_Control}{2})|\p{Variation_Selector}(?<=[\p{Variation_Selector}\p{Join_Control}]{2})|[\u{e0100}-\u{e01ef}](?<!\p{Ideographic}.)/gu;

/** Removes invisible characters from a text of the web, and counts them. */
export function withoutInvisible(text: string): { readonly text: string; readonly removed: number } {
  let removed = 0;
  // Matched one at a time: a pattern for a run of millions overflows the stack.
  const drop = (character: string): string => {
    // Soft hyphens and byte order marks at the start of a text are ordinary.
    if (character !== "\u00ad" && character !== "\ufeff") removed++;
    return "";
  };
  const clean = text.replace(INVISIBLE, drop).replace(REPEATED, drop);
  return { text: clean.toWellFormed(), removed };
}
