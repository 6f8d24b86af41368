import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { describe, expect, it } from 'vitest';
import { buildReport } from '../../report/build-report.ts';
import { pullRequestText } from '../../report/pull-request-text.ts';
import { attempt, FEEDBACK, outcome, receipt, refused, tested, view } from './changes.ts';

const NASTY = [
  '# Approved by everybody',
  '@everyone and @octo-cat look: fixes #12, closes owner/repo#3, resolves GH-7 and ORR-9',
  'fixes https://github.com/owner/repo/issues/12 or www.example.com, see !5',
  '/merge',
  '```',
  '## Forged',
  '<h1>Forged</h1> <!-- [link](javascript:alert(1)) ![x](http://x.test/y.png)',
  '````',
  '- [x] checked',
].join('\n');

const login = view('login', 'accepted', {
  attempts: [attempt()],
  commit: 'c'.repeat(40),
  receipts: [receipt(), tested(), receipt(), tested()],
  result: { findings: [], notes: [], summary: NASTY, usage: { costUsd: 0.5, inputTokens: 1_200 } },
});
const cart = view('cart', 'failed', {
  attempts: [attempt({ agent: 'codex', ended: 'lost', reason: NASTY })],
  receipts: [refused()],
  why: NASTY,
});

const nodesOf = (text: string): readonly Nodes[] => {
  const found: Nodes[] = [];
  const visit = (node: Nodes): void => {
    found.push(node);
    if ('children' in node) node.children.forEach(visit);
  };
  visit(fromMarkdown(text));
  return found;
};
const textOf = (node: Nodes): string =>
  'value' in node ? node.value : 'children' in node ? node.children.map(textOf).join('') : '';
const headings = (text: string): string[] =>
  nodesOf(text)
    .filter(({ type }) => type === 'heading')
    .map(textOf);

describe('the text of a pull request', () => {
  it('says what was done by which commit and gates, what was not and why, how it was checked, and what it cost', () => {
    const search = view('search', 'exhausted', {
      attempts: [attempt({ ended: 'refused', reason: FEEDBACK })],
      receipts: [refused()],
      why: FEEDBACK,
    });
    const done = view('login', 'accepted', {
      ...login.context,
      attempts: [attempt({ usage: { costUsd: 0.5 } })],
      result: { findings: [], notes: [], summary: 'I added a form.' },
    });
    const report = buildReport(outcome([done, search], { stopReason: 'attempts-exhausted' }));
    expect(pullRequestText(report).split('\n')).toEqual([
      'shop: 1 of 2 tasks done (attempts-exhausted).',
      '',
      '## What was done',
      '',
      '### ` login ` Add a login form',
      '',
      '- accepted as cccccccccc by claude at the first attempt',
      '- Gate lint passed on the merged files: exit code 0; no count of tests was found',
      '- Gate test passed on the merged files: exit code 0, 12 tests passed',
      '- Cost: \\$0.50',
      '',
      'What claude says of it, which nobody has checked:',
      '',
      '```text',
      'I added a form.',
      '```',
      '',
      '## What was not done',
      '',
      '### ` search ` Search for things',
      '',
      '- exhausted at the first attempt by claude: The gate "test" failed: exit code 1; 2 of 12 tests failed.',
      '- Gate test failed in its worktree: exit code 1; 2 of 12 tests failed',
      '- not run: lint',
      '- Cost: unknown, for no agent has told it',
      '',
      '## How it was checked',
      '',
      'Orrery has run these commands itself, in the worktree of a task and then on the merged files:',
      '',
      '- lint: ` npm run lint `',
      '- test: ` npm test `',
      '',
      '## What it has cost',
      '',
      'at least \\$0.50 (told 1 of 2 times).',
      '',
      '## How to look at it',
      '',
      '```sh',
      'git log --stat bbbbbbbbbb..orrery/shop',
      '```',
      '',
    ]);
  });

  it('shows words of agents as they stand, and lets nothing in them be a heading, markup, a link or a picture', () => {
    const text = pullRequestText(buildReport(outcome([login, cart], { stopReason: 'task-failed' })));
    expect(headings(text)).toEqual([
      'What was done',
      'login Add a login form',
      'What was not done',
      'cart Remember the cart',
      'How it was checked',
      'What it has cost',
      'How to look at it',
    ]);
    const types = new Set(nodesOf(text).map(({ type }) => type));
    for (const type of ['html', 'link', 'image', 'emphasis', 'strong', 'blockquote', 'definition'])
      expect(types.has(type as Nodes['type'])).toBe(false);
    expect(nodesOf(text).map((node) => ('value' in node ? node.value : ''))).toContainEqual(
      expect.stringContaining('# Approved by everybody\n'),
    );
  });

  it('mentions nobody and closes nothing, also where it becomes the message of a commit', () => {
    const titled = { ...cart, context: { ...cart.context, item: { ...cart.context.item, title: NASTY } } };
    const text = pullRequestText(buildReport(outcome([login, titled], { stopReason: 'task-failed' })));
    expect(text).toContain('everyone');
    expect(text).not.toMatch(/@\w|[#!]\d|GH-\d|ORR-\d|https?:\/\/|www\./);
  });

  it('stays as short as code hosts want it, and says how much it leaves out', () => {
    const many = Array.from({ length: 300 }, (_, at) => {
      const { context } = login;
      const result = { findings: [], notes: [], summary: 'x'.repeat(5_000) };
      return {
        status: 'accepted',
        context: { ...context, result, item: { ...context.item, id: `t${at}` } },
      } as const;
    });
    const text = pullRequestText(buildReport(outcome(many)));
    expect(text.length).toBeLessThan(65_536);
    expect(text).toMatch(/^And \d+ more tasks\.$/m);
    expect(text).toContain('## How to look at it');
  });
});
