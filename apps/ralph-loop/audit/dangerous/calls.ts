import type { Node, NodeOf } from '../syntax/node.ts';
import { keyName, unwrapped } from '../syntax/node.ts';
import { heldValue, isConstant, referenceOf } from '../syntax/reference.ts';
import type { Scope } from '../syntax/scopes.ts';
import { isSanitised } from './sanitised.ts';

type Call = Pick<NodeOf<'CallExpression'>, 'callee' | 'arguments'>;

/** What is done with a call to a known function. */
type Check = (call: Call, scope: Scope) => string | undefined;

/** The rule `id` applies when the argument at `index` is given and not constant. */
const textAt =
  (index: number, id: string): Check =>
  ({ arguments: given }, scope) => {
    const text = given[index];
    return text === undefined || isConstant(text, scope) ? undefined : id;
  };

const evaluates: Check = ({ arguments: [text] }, scope) => {
  if (text === undefined) return undefined;
  return isConstant(text, scope) ? 'code.eval-constant' : 'code.eval';
};

const compiles: Check = ({ arguments: given }, scope) =>
  given.every((text) => isConstant(text, scope)) ? undefined : 'code.new-function';

/** Functions are what a timer should be given; only text written out is surely text. */
const times: Check = ({ arguments: [first] }) => {
  const code = first === undefined ? undefined : unwrapped(first);
  const isText =
    code?.type === 'TemplateLiteral' || (code?.type === 'Literal' && typeof code.value === 'string');
  const isSum = code?.type === 'BinaryExpression' && code.operator === '+';
  return isText || isSum ? 'code.string-timer' : undefined;
};

/** `spawn(command, args?, options?)`: through a shell by option, or the command is a shell itself. */
const spawns: Check = ({ arguments: [command, ...others] }, scope) => {
  if (command === undefined) return undefined;
  const values = others.map((other) => heldValue(other, scope));
  const isOpen = [command, ...values].some((value) => isOpenArgument(value, scope));
  if (isOpen && values.some(hasShell)) return 'process.shell-option';
  const list = values.find((value) => value.type === 'ArrayExpression');
  return list !== undefined && runsScript(command, list, scope) ? 'process.shell-script' : undefined;
};

/** Options and call-backs are not part of what runs. */
const isOpenArgument = (value: Node, scope: Scope): boolean =>
  !ASIDE.has(value.type) && !isConstant(value, scope);
const ASIDE = new Set(['ObjectExpression', 'ArrowFunctionExpression', 'FunctionExpression']);

function hasShell(value: Node): boolean {
  if (value.type !== 'ObjectExpression') return false;
  return value.properties.some((property) => {
    if (property.type !== 'Property' || keyName(property.key, property.computed) !== 'shell') return false;
    return (
      property.value.type === 'Literal' && property.value.value !== false && property.value.value !== null
    );
  });
}

const SHELL = /(^|[\\/])(ba|da|k|z|c|fi|a)?sh$|(^|[\\/])(cmd|powershell|pwsh)(\.exe)?$/i;
const SCRIPT_FLAG = /^(-[a-z]*c|\/c|-command)$/i;

/** `sh -c SCRIPT` where the script, not its arguments, is not constant. */
function runsScript(command: Node, list: NodeOf<'ArrayExpression'>, scope: Scope): boolean {
  if (command.type !== 'Literal' || !SHELL.test(String(command.value))) return false;
  const flag = list.elements.findIndex(
    (one) => one?.type === 'Literal' && SCRIPT_FLAG.test(String(one.value)),
  );
  const script = flag === -1 ? undefined : list.elements[flag + 1];
  return script !== undefined && script !== null && !isConstant(script, scope);
}

const writesHtml: Check = ({ arguments: given }, scope) =>
  given.every((html) => isConstant(html, scope) || isSanitised(html, scope)) ? undefined : 'dom.inner-html';

const CHECKS = new Map<string, Check>([
  ['global:eval', evaluates],
  ['global:Function', compiles],
  ['global:setTimeout', times],
  ['global:setInterval', times],
  ['global:setImmediate', times],
  ['global:document.write', writesHtml],
  ['global:document.writeln', writesHtml],
  ['child_process:exec', textAt(0, 'process.shell-command')],
  ['child_process:execSync', textAt(0, 'process.shell-command')],
  ['shelljs:exec', textAt(0, 'process.shell-command')],
  ['child_process:spawn', spawns],
  ['child_process:spawnSync', spawns],
  ['child_process:execFile', spawns],
  ['child_process:execFileSync', spawns],
  ['vm:runInThisContext', textAt(0, 'code.vm-run')],
  ['vm:runInNewContext', textAt(0, 'code.vm-run')],
  ['vm:runInContext', textAt(0, 'code.vm-run')],
  ['vm:compileFunction', textAt(0, 'code.vm-run')],
]);

const NEW_CHECKS = new Map<string, Check>([
  ['global:Function', compiles],
  ['vm:Script', textAt(0, 'code.vm-run')],
]);

/** The rule that a call breaks. */
export function checkCall(call: NodeOf<'CallExpression'>, scope: Scope): string | undefined {
  const called = referenceOf(call.callee, scope);
  const check = called === undefined ? undefined : CHECKS.get(called);
  return check === undefined ? checkMethod(call, scope) : check(call, scope);
}

/** The rule that a construction breaks. */
export function checkNew(made: NodeOf<'NewExpression'>, scope: Scope): string | undefined {
  const called = referenceOf(made.callee, scope);
  return called === undefined ? undefined : NEW_CHECKS.get(called)?.(made, scope);
}

const WEAK_HASH = /^(md5|sha-?1)$/i;
const PASSWORD = /passw(or)?d|passphrase|\bpwd\b/i;

/** Methods whose object can be anything: `element.insertAdjacentHTML`, `createHash('md5').update(password)`. */
function checkMethod({ callee, arguments: given }: Call, scope: Scope): string | undefined {
  const method = unwrapped(callee);
  if (method.type !== 'MemberExpression') return undefined;
  const name = keyName(method.property, method.computed);
  const [, html] = given;
  if (name === 'insertAdjacentHTML' && html !== undefined) {
    return isConstant(html, scope) || isSanitised(html, scope) ? undefined : 'dom.inner-html';
  }
  return name === 'update' && isWeakHash(method.object, scope) && given.some(namesPassword)
    ? 'crypto.password-hash'
    : undefined;
}

function isWeakHash(object: Node, scope: Scope): boolean {
  const node = unwrapped(object);
  if (node.type !== 'CallExpression' || referenceOf(node.callee, scope) !== 'crypto:createHash') return false;
  const [algorithm] = node.arguments;
  return algorithm?.type === 'Literal' && WEAK_HASH.test(String(algorithm.value));
}

function namesPassword(argument: Node): boolean {
  const node = unwrapped(argument);
  if (node.type === 'Identifier') return PASSWORD.test(node.name);
  if (node.type === 'MemberExpression') return PASSWORD.test(keyName(node.property, node.computed) ?? '');
  if (node.type === 'BinaryExpression') return namesPassword(node.left) || namesPassword(node.right);
  return node.type === 'TemplateLiteral' && node.expressions.some(namesPassword);
}
