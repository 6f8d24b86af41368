import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { capability, defineAgent } from 'orrery';
import { AuditReport, findingAt, SourceText } from 'orrery/missions';
import { z } from 'zod';

const scan = capability({
  id: 'security.scan',
  description: 'Dangerous calls in the scripts of a folder',
  input: z.object({ root: z.string(), feedback: z.string().optional() }),
  output: AuditReport,
  readOnly: true,
});

const RULES = [
  {
    rule: 'code.eval',
    severity: 'high',
    shape: /\beval\(/,
    message: 'Text is run as code; parse it instead.',
  },
  {
    rule: 'dom.inner-html',
    severity: 'medium',
    shape: /\.innerHTML = /,
    message: 'Text becomes part of the page as HTML; set textContent instead.',
  },
] as const;

/** Looks for two things, line by line. It computes: no model is asked. */
export const scanner = defineAgent({
  id: 'scanner',
  name: 'SCANNER',
  version: '1.0.0',
  description: 'Looks for dangerous calls',
  tier: 2,
}).handle(scan, ({ root }, ctx) => {
  const files = readdirSync(root).filter((file) => file.endsWith('.js'));
  const findings = files.flatMap((file) => {
    const source = new SourceText(file, readFileSync(join(root, file), 'utf8'));
    return source.text
      .split('\n')
      .flatMap((text, index) =>
        RULES.filter(({ shape }) => shape.test(text)).map(({ shape: _shape, ...said }) =>
          findingAt(source, { ...said, line: index + 1, agent: ctx.self }),
        ),
      );
  });
  return { findings, notes: [], filesSeen: files.length, bytesSeen: 0 };
});
