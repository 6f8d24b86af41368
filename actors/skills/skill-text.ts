import { z } from 'zod';

/** Whether every store can keep it as it is: none keeps a NUL, or half of a character. */
const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/** A text that is stored as it is, of 1 to so many UTF-16 code units. */
export const storedText = (maxLength: number) => storedTextIfAny(maxLength).min(1);

/** The same of a text that may be empty. */
export const storedTextIfAny = (maxLength: number) =>
  z.string().max(maxLength).refine(isStorable, 'text without NUL and lone surrogates');

/** The name of something that a tenant calls so: a project, a subject, a tag. */
export const StoredName = storedText(200);

/** One of the tags of a memory. */
export const StoredTag = storedText(64);
