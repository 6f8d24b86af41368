import { isScript, isTestOrFixture, type LintRule, lintTool } from './oxlint.ts';

const surely = (what: string, todo: string, options?: unknown): LintRule => ({
  severity: 'high',
  what,
  todo,
  options,
});
const likely = (what: string, todo: string, options?: unknown): LintRule => ({
  severity: 'medium',
  what,
  todo,
  options,
});

/** MARS's second: what the language lets one write and nobody means, in scripts without types too. */
export const mistakes = lintTool({
  name: 'oxlint-mistakes',
  module: import.meta.url,
  replaces: 'nothing: new',
  nothing: 'no scripts',
  plugins: ['oxc', 'unicorn', 'typescript'],
  takes: (file) => isScript(file) && !isTestOrFixture(file),
  rules: {
    'no-const-assign': surely(
      'A constant is assigned again: this line throws',
      'Declare it with let, or do not assign',
    ),
    'no-dupe-keys': surely(
      'The object has this key twice, and keeps the last one alone',
      'Remove one of them',
    ),
    'no-dupe-class-members': surely(
      'The class has this member twice, and keeps the last one alone',
      'Remove one of them',
    ),
    'no-duplicate-case': surely(
      'Another case above takes this value: this one never runs',
      'Remove it, or give it the value that is meant',
    ),
    'no-dupe-else-if': surely(
      'A condition above covers this one: the branch never runs',
      'Give it the condition that is meant',
    ),
    'no-obj-calls': surely(
      'This global is an object and no function: the call throws',
      'Call one of its methods',
    ),
    'no-this-before-super': surely('this is used before super(): that throws', 'Call super() first'),
    'constructor-super': surely(
      'The constructor of a subclass has to call super(), and one of no subclass must not',
      'Call it on every path, or leave it out',
    ),
    'no-setter-return': likely('What a setter returns goes nowhere', 'Leave the value out'),
    'use-isnan': surely('Nothing equals NaN: this comparison is always false', 'Use Number.isNaN()'),
    'valid-typeof': surely(
      'typeof never gives this word: the comparison is always false',
      'Compare with one that it gives',
    ),
    'no-unsafe-negation': surely(
      'The negation takes the left operand alone, so this asks something else than it says',
      'Put the comparison in parentheses',
    ),
    'no-compare-neg-zero': likely('Comparing with -0 is comparing with 0', 'Use Object.is(value, -0)'),
    'no-self-assign': likely(
      'The value is assigned to itself',
      'Assign the value that is meant, or remove the line',
    ),
    'no-unreachable': likely(
      'This is never reached',
      'Remove it, or the return, throw, break or continue before it',
    ),
    'for-direction': surely(
      'The counter moves away from the limit: the loop ends late or never',
      'Turn the step or the comparison round',
    ),
    'no-loss-of-precision': likely(
      'A number cannot hold so many digits: the program sees another value',
      'Use a BigInt, or write the value that is meant',
    ),
    'no-invalid-regexp': surely(
      'This is no regular expression: making it throws',
      'Mend the pattern or its flags',
    ),
    'no-empty-character-class': likely(
      '[] in a regular expression matches nothing',
      'Name what is meant, or remove it',
    ),
    'no-misleading-character-class': likely(
      'The character class holds a character of several code units, and matches its parts',
      'Use the flag u or v, or alternatives',
    ),
    'no-useless-backreference': likely(
      'This back reference always matches the empty text',
      'Put the group before it, on the same path',
    ),
    'no-import-assign': surely('An import is assigned: that throws', 'Use a variable of your own'),
    'no-new-native-nonconstructor': surely('This global is no constructor: new throws', 'Leave out the new'),
    'no-constant-binary-expression': likely(
      'The outcome of this expression is always the same',
      'Write the comparison that is meant',
    ),
    'no-unused-private-class-members': {
      severity: 'low',
      what: 'Nobody reads this private member',
      todo: 'Remove it',
    },
    'oxc/bad-comparison-sequence': surely(
      'A chain of comparisons compares a boolean with a value',
      'Join two comparisons with &&',
    ),
    'oxc/bad-char-at-comparison': surely(
      'charAt() gives one character, and is compared with more',
      'Use startsWith() or slice()',
    ),
    'oxc/bad-min-max-func': surely(
      'These limits exclude each other, so the outcome is always the same',
      'Swap them',
    ),
    'oxc/bad-object-literal-comparison': surely(
      'A new object or array equals nothing: the comparison is always false',
      'Compare what is in it',
    ),
    'oxc/bad-array-method-on-arguments': surely(
      'arguments is no array and has no such method: the call throws',
      'Use rest parameters',
    ),
    'oxc/const-comparisons': surely(
      'One of these comparisons decides both: the outcome is always the same',
      'Write the limits that are meant',
    ),
    'oxc/erasing-op': surely(
      'The outcome of this operation is always 0',
      'Write the operation that is meant',
    ),
    'oxc/number-arg-out-of-range': surely('The method throws on this number', 'Give it one in its range'),
    'oxc/uninvoked-array-callback': surely(
      'The array has holes alone, so its callback is never called',
      'Use Array.from() with the callback, or fill() first',
    ),
    'unicorn/no-invalid-remove-event-listener': likely(
      'This listener was never added: it is a new function, so nothing is removed',
      'Keep the function that was added, and remove it',
    ),
    'unicorn/no-accessor-recursion': surely('The accessor calls itself for ever', 'Use the field behind it'),
    'unicorn/no-array-fill-with-reference-type': likely(
      'All places of the array share one object',
      'Use Array.from() with a function that makes one each',
    ),
    'unicorn/no-negation-in-equality-check': surely(
      'A negated value is compared: this asks something else than it says',
      'Use !== or !=',
    ),
    'typescript/no-non-null-asserted-optional-chain': likely(
      'The chain may stop at nothing, and the ! says that it does not',
      'Leave out the ! and handle the missing value',
    ),
    'typescript/no-duplicate-enum-values': likely(
      'Two members of the enum have the same value, and nobody can tell them apart',
      'Give each its own',
    ),
    'typescript/no-unsafe-declaration-merging': likely(
      'A class and an interface of one name: the compiler believes members that nobody sets',
      'Give the interface another name, and implement it',
    ),
  },
});
