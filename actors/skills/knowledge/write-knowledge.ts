import { Document, visit } from 'yaml';
import type { Constraint } from './constraint.ts';
import type { KnowledgeFile } from './parse-knowledge.ts';

/** An item as a file, which `parseKnowledge` makes the same item of. */
export function writeKnowledge({ content, ...item }: KnowledgeFile): string {
  const front = {
    ...withoutEmpty(item),
    ...(item.constraints.length === 0 ? {} : { constraints: item.constraints.map(asInFile) }),
  };
  return `---\n${yamlOf(front)}---\n${content === '' ? '' : `\n${content}\n`}`;
}

/** What has more to it than words is in quotes, on one line: folded and put together again a text may lose white space. */
function yamlOf(front: unknown): string {
  const document = new Document(front, { version: '1.2', schema: 'core', aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (key, scalar) => {
      if (key !== 'key' && typeof scalar.value === 'string' && !/^[a-z][\w.-]*$/i.test(scalar.value))
        scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER });
}

const asInFile = ({ value, ...rest }: Constraint) => ({
  ...withoutEmpty(rest),
  [/Match$/.test(rest.operator) ? 'pattern' : 'value']: value,
});

/** Fields that say nothing are left out; a scope that is empty says something. */
const withoutEmpty = (fields: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) =>
        value !== undefined &&
        !(typeof value === 'object' && value !== null && Object.keys(value).length === 0),
    ),
  );
