import { findingId, sha256 } from '../findings/evidence.ts';
import type { Finding } from '../findings/finding.ts';
import { ruleOf, severityAt } from './rules.ts';

/** The finding that a file of `bytes` breaks a rule about sizes. Its line is 1, though the file need not have lines. */
export function sizeFinding(ruleId: string, file: string, bytes: number): Finding {
  const rule = ruleOf(ruleId);
  if (rule?.aboveBytes === undefined) throw new Error(`rule ${ruleId} is not about sizes`);
  const message = `The file has ${(bytes / 1024 ** 2).toFixed(1)} MiB; more than ${rule.aboveBytes / 1024 ** 2} are too many`;
  const place = { rule: ruleId, file, line: 1, message };
  const evidence = `${bytes} bytes`;
  return {
    id: findingId(place),
    ...place,
    severity: severityAt(rule, file),
    evidence,
    lineSha256: sha256(evidence),
    agent: rule.agent,
  };
}
