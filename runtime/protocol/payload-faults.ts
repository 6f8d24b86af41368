import type { z } from 'zod';

const MAX_TEXT = 60;

/** Every issue of a payload's parse as `field: what is wrong, got value`, for an error's message. */
export function faultsOf(error: z.ZodError): string {
  return error.issues
    .map(
      ({ path, message, input }) =>
        `${path.map(String).join('.') || '(root)'}: ${message}, got ${describe(input)}`,
    )
    .join('; ');
}

function describe(value: unknown): string {
  if (typeof value === 'string') return shortened(JSON.stringify(value));
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return shortened(String(value));
  try {
    return Array.isArray(value) || isPlain(value) ? shortened(JSON.stringify(value)) : nameOf(value);
  } catch {
    return 'a value that JSON cannot carry';
  }
}

const shortened = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

const isPlain = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

const nameOf = (value: object): string =>
  `an instance of ${(value as { constructor?: { name?: string } }).constructor?.name || 'a class'}`;
