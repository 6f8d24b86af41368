import type { Hit, Tool, ToolJob, ToolRule } from '../tool.ts';

const CREDENTIAL = 'Take it out, and revoke it: what was committed once is known';

const rules: Record<string, ToolRule> = {
  'secretlint/privatekey': { severity: 'critical', what: 'A private key' },
  'secretlint/*': {
    severity: 'high',
    what: 'A credential of a service, by the recommended rules of secretlint',
  },
};

/** ENCELADUS's eyes: the recommended rules of secretlint, and private keys of any kind. */
export const secretlint: Tool = {
  name: 'secretlint',
  module: import.meta.url,
  packages: ['@secretlint/core', '@secretlint/secretlint-rule-preset-recommend'],
  licence: 'MIT',
  home: 'https://github.com/secretlint/secretlint',
  replaces: 'the rules secret.*',
  rules,
  nothing: 'no files',
  takes: () => true,
  run: async ({ root, files }: ToolJob, progress) => {
    const { findSecrets } = await import('../secrets.ts');
    const { readSource } = await import('@orrery/ralph-loop/findings/read-source');
    const hits: Hit[] = [];
    for (const [index, file] of files.entries()) {
      progress(index, files.length);
      const read = readSource(root, file);
      if ('skipped' in read) continue;
      for (const { rule, start, isSilenced } of await findSecrets(read.source)) {
        if (isSilenced) continue;
        const kind = rule.replace(/^secret\./, '');
        const severity = kind === 'privatekey' ? 'critical' : 'high';
        const message = `This looks like a ${kind === 'privatekey' ? 'private key' : `credential (${kind})`}. ${CREDENTIAL}.`;
        hits.push({ rule: `secretlint/${kind}`, severity, file, ...read.source.positionAt(start), message });
      }
    }
    return { hits };
  },
};
