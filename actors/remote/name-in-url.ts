/**
 * The id of the agent that is found at a URL, as gateways have them: the last step of its path, or of what its card is under.
 * Undefined where there is none: at the root of a gateway, at another file, where it is no name.
 */
export function nameInUrl({ pathname }: Pick<URL, 'pathname'>): string | undefined {
  const steps = pathname.split('/').filter(Boolean);
  const wellKnown = steps.lastIndexOf('.well-known');
  // A step may hold an encoded "/": it is split before it is decoded.
  const name = decoded((wellKnown === -1 ? steps : steps.slice(0, wellKnown)).at(-1) ?? '');
  return name === '' || name.endsWith('.json') || /[\s\p{Cc}]/u.test(name) ? undefined : name;
}

/** What is no encoding is no name. */
function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return '';
  }
}
