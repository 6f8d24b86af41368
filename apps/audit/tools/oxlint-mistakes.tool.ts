import { lintTool } from './oxlint.ts';

/** Finds code that is valid but cannot be meant, also in scripts without types. */
export const mistakes = lintTool({
  name: 'oxlint-mistakes',
  module: import.meta.url,
  replaces: 'nothing: new',
  plugins: ['oxc', 'unicorn', 'typescript'],
  rules: {
    // These throw, or never end, once they are reached. The others may be intended, or harmless.
    high: {
      'no-const-assign':
        'A constant is assigned again: this line throws. Declare it with let, or do not assign',
      'no-obj-calls': 'This global is an object and no function: the call throws. Call one of its methods',
      'no-this-before-super': 'this is used before super(): that throws. Call super() first',
      'constructor-super':
        'The constructor of a subclass has to call super(), and one of no subclass must not. Call it on every path, or leave it out',
      'no-invalid-regexp': 'This is no regular expression: making it throws. Mend the pattern or its flags',
      'no-import-assign': 'An import is assigned: that throws. Use a variable of your own',
      'no-new-native-nonconstructor': 'This global is no constructor: new throws. Leave out the new',
      'oxc/bad-array-method-on-arguments':
        'arguments is no array and has no such method: the call throws. Use rest parameters',
      'oxc/number-arg-out-of-range': 'The method throws on this number. Give it one in its range',
      'unicorn/no-accessor-recursion': 'The accessor calls itself for ever. Use the field behind it',
    },
    medium: {
      'no-dupe-class-members':
        'The class has this member twice, and keeps the last one alone. Remove one of them',
      'no-duplicate-case':
        'Another case above takes this value: this one never runs. Remove it, or give it the value that is meant',
      'no-dupe-else-if':
        'A condition above covers this one: the branch never runs. Give it the condition that is meant',
      'use-isnan': 'Nothing equals NaN: this comparison is always false. Use Number.isNaN()',
      'valid-typeof':
        'typeof never gives this word: the comparison is always false. Compare with one that it gives',
      'no-unsafe-negation':
        'The negation takes the left operand alone, so this asks something else than it says. Put the comparison in parentheses',
      'for-direction':
        'The counter moves away from the limit: the loop ends late or never. Turn the step or the comparison round',
      'oxc/bad-comparison-sequence':
        'A chain of comparisons compares a boolean with a value. Join two comparisons with &&',
      'oxc/bad-char-at-comparison':
        'charAt() gives one character, and is compared with more. Use startsWith() or slice()',
      'oxc/bad-min-max-func': 'These limits exclude each other, so the outcome is always the same. Swap them',
      'oxc/bad-object-literal-comparison':
        'A new object or array equals nothing: the comparison is always false. Compare what is in it',
      'oxc/erasing-op': 'The outcome of this operation is always 0. Write the operation that is meant',
      'oxc/uninvoked-array-callback':
        'The array has holes alone, so its callback is never called. Use Array.from() with the callback, or fill() first',
      'no-dupe-keys': 'The object has this key twice, and keeps the last one alone. Remove one of them',
      'no-setter-return': 'What a setter returns goes nowhere. Leave the value out',
      'no-compare-neg-zero': 'Comparing with -0 is comparing with 0. Use Object.is(value, -0)',
      'no-unreachable': 'This is never reached. Remove it, or the return, throw, break or continue before it',
      'no-loss-of-precision':
        'A number cannot hold so many digits: the program sees another value. Use a BigInt, or write the value that is meant',
      'no-empty-character-class':
        '[] in a regular expression matches nothing. Name what is meant, or remove it',
      'no-useless-backreference':
        'This back reference always matches the empty text. Put the group before it, on the same path',
      'no-constant-binary-expression':
        'One side of this expression never counts: the outcome is always the same, or the left side is never what the operator asks for. Write the one that is meant',
      'unicorn/no-invalid-remove-event-listener':
        'This listener was never added: it is a new function, so nothing is removed. Keep the function that was added, and remove it',
      'typescript/no-non-null-asserted-optional-chain':
        'The chain may stop at nothing, and the ! says that it does not. Leave out the ! and handle the missing value',
      'typescript/no-duplicate-enum-values':
        'Two members of the enum have the same value, and nobody can tell them apart. Give each its own',
    },
    low: { 'no-unused-private-class-members': 'Nobody reads this private member. Remove it' },
  },
  particulars: {
    'no-const-assign': { isAtLast: true },
    'no-dupe-class-members': { isAtLast: true },
    'no-dupe-else-if': { isAtLast: true },
    'no-dupe-keys': { isAtLast: true },
    'no-duplicate-case': { isAtLast: true },
    // Placeholders of builds, and constants as switches.
    'no-constant-binary-expression': {
      isTold: ({ rest }) =>
        !/^(?:true|false|0|1)\s*(?:&&|\|\|)|^.*['"`](?:__\w+__|%\w+%|@@\w+@*|\{\{.*\}\})['"`]/.test(rest) &&
        !OF_VALID_TYPEOF.test(rest),
    },
    // A block that begins with a return or throw is switched off on purpose.
    'no-unreachable': {
      few: 1,
      isTold: ({ rest, text }) => !isSwitchedOff(text, text.length - rest.length),
    },
    // Two literal numbers are a formula.
    'oxc/erasing-op': { isTold: ({ rest }) => !/^[\d.]+\s*[*&/]\s*[\d.]+(?![\w.(])/.test(rest) },
    // A returned call is made for its effect.
    'no-setter-return': { isTold: ({ rest }) => !/^(?:return\s+)?[\w$#.?!]+\(/.test(rest) },
    // Lost decimals are below the precision of the program.
    'no-loss-of-precision': { isTold: ({ rest }) => !/^[\d_]*\./.test(rest) },
    // Elsewhere the `!` only satisfies the compiler, and the value is not accessed.
    'typescript/no-non-null-asserted-optional-chain': { isTold: ({ rest }) => /^!\s*[.[(]/.test(rest) },
  },
});

/** Comparisons that valid-typeof reports already. */
const OF_VALID_TYPEOF = /^typeof\s[^=!]+[!=]==?\s*undefined\b|^undefined\s*[!=]==?\s*typeof\b/;

/** Characters before a place that are searched. */
const LOOKED_AT = 4_000;
/** A block that begins with a throw or return, up to its end. */
const BEGINS_WITH_JUMP =
  /\{(?:\s|\/\/[^\n]*\n|\/\*(?:(?!\*\/)[\s\S])*\*\/)*(?:throw|return)\b(?:(?!\b(?:throw|return|function|if|for|while|switch)\b|=>)[\s\S]){0,2000}$/;

const isSwitchedOff = (text: string, offset: number): boolean =>
  BEGINS_WITH_JUMP.test(text.slice(Math.max(0, offset - LOOKED_AT), offset));
