import { checkCall, checkNew } from './dangerous/calls.ts';
import { checkAssignment, checkAttribute, checkProperty } from './dangerous/writes.ts';
import type { Defect } from './evidence.ts';
import { isScript } from './syntax/parse-script.ts';
import type { Node } from './syntax/node.ts';
import type { Scope } from './syntax/scopes.ts';
import { walkScript } from './syntax/walk-script.ts';
import type { SourceText } from '../findings/source-text.ts';

/** What was found, or why the file could not be looked at. */
export type DangerousCalls = { readonly defects: readonly Defect[] } | { readonly unparsable: string };

/** Words without which no rule can apply: most files need not be parsed at all. */
const WORTH_PARSING =
  /eval|Function|set(?:Timeout|Interval)|child_process|shelljs|\bvm\b|(?:inner|outer|dangerouslySetInner)HTML|insertAdjacentHTML|document|rejectUnauthorized|TLS_REJECT|createHash/;

/** Dangerous calls of a script by its syntax tree, and switched-off TLS in configuration files by their lines. */
export function findDangerousCalls(source: SourceText): DangerousCalls {
  if (!isScript(source.file)) return { defects: findInConfiguration(source) };
  if (!WORTH_PARSING.test(source.text)) return { defects: [] };
  const defects: Defect[] = [];
  const unparsable = walkScript(source, (node, scope) => {
    const rule = check(node, scope);
    if (rule !== undefined) defects.push({ rule, offset: node.start });
  });
  return unparsable === undefined ? { defects } : { unparsable };
}

/** The id of the rule that `node` breaks. */
function check(node: Node, scope: Scope): string | undefined {
  switch (node.type) {
    case 'CallExpression':
      return checkCall(node, scope);
    case 'NewExpression':
      return checkNew(node, scope);
    case 'AssignmentExpression':
      return checkAssignment(node, scope);
    case 'Property':
      return checkProperty(node, scope);
    case 'JSXAttribute':
      return checkAttribute(node, scope);
    default:
      return undefined;
  }
}

const CONFIGURATION =
  /(^|\/)(\.env[^/]*|[^/]*dockerfile[^/]*|package\.json|[^/]+\.(ya?ml|sh|bash|env|service))$/i;
const TLS_OFF = /^(?!\s*(?:#|\/\/)).*\bNODE_TLS_REJECT_UNAUTHORIZED["']?\s*[:=\s]\s*["']?0(?![0-9])/gm;

function findInConfiguration({ file, text }: SourceText): Defect[] {
  if (!CONFIGURATION.test(file)) return [];
  return [...text.matchAll(TLS_OFF)].map(({ index, 0: line }) => ({
    rule: 'tls.verify-off',
    offset: index + line.indexOf('NODE_TLS'),
  }));
}
