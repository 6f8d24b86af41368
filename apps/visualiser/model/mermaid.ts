import { shownText } from './shown-text.ts';

/** Text as Mermaid takes it: what means something to Mermaid or HTML stands there by its number. */
export const mermaidText = (text: string, max = 120): string =>
  shownText(text, max).replace(
    /[^\p{L}\p{N} _.,/()[\]'*+=!?@|⟨⟩→…●-]/gu,
    (sign) => `#${sign.codePointAt(0)};`,
  );
