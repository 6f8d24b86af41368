import { ACCESSIBILITY_RULES } from './accessibility/rules.ts';
import { isAside } from './aside.ts';
import { DEPENDENCY_RULES } from './dependencies/rules.ts';
import { DOCS_RULES } from './docs/rules.ts';
import { ERROR_RULES } from './errors/rules.ts';
import type { Severity } from '../findings/finding.ts';
import { HISTORY_RULES } from './history/rules.ts';
import { IDEAS_RULES } from './ideas/rules.ts';
import { INTEGRATION_RULES } from './integrations/rules.ts';
import { METRIC_RULES } from './metrics/rules.ts';
import { PERFORMANCE_RULES } from './performance/rules.ts';
import { REALTIME_RULES } from './realtime/rules.ts';
import { RELEASE_RULES } from './release/rules.ts';
import { RESILIENCE_RULES } from './resilience/rules.ts';
import { RESPONSIVE_RULES } from './responsive/rules.ts';
import type { Rule, Rules } from './rule.ts';
import { SCHEMA_RULES } from './schemas/rules.ts';
import { CROSS_SPEC_RULES, SPEC_RULES } from './specs/rules.ts';
import { TEST_RULES } from './test-quality/rules.ts';

const enceladus = (severity: Severity, what: string): Rule => ({ agent: 'enceladus', severity, what });
const secret = (what: string, severity: Severity = 'critical'): Rule =>
  enceladus(severity, `${what} is written in the file`);

/**
 * Every rule of the audit. MERCURY refuses a finding whose rule is not here.
 *
 * "Not constant" means: not a string made of literals, templates without holes, and `const`s of those.
 * Where a dangerous call or a secret stands in tests, fixtures, examples, benchmarks or documentation it is one step
 * less severe (`severityAt`): such code does not run in production, but such keys have leaked.
 */
export const RULES: Rules = {
  'architecture.cycle': { agent: 'jupiter', severity: 'medium', what: 'Files import each other in a circle' },
  'architecture.lazy-cycle': {
    agent: 'jupiter',
    severity: 'low',
    what: 'A circle of imports with an import() in it',
  },
  'architecture.layer': { agent: 'jupiter', severity: 'medium', what: 'A layer imports one that it may not' },
  'architecture.layer-type': {
    agent: 'jupiter',
    severity: 'info',
    what: 'A layer imports types of one that it may not',
  },

  'code.eval': enceladus('high', 'eval runs text that is not constant'),
  'code.eval-constant': enceladus('medium', 'eval runs a constant text'),
  'code.new-function': enceladus('high', 'Function compiles text that is not constant'),
  'code.string-timer': enceladus('medium', 'A timer is given text to run as code'),
  'code.vm-run': enceladus('medium', 'node:vm runs text that is not constant; vm is no sandbox'),
  'process.shell-command': enceladus('high', 'A shell runs a command line that is not constant'),
  'process.shell-option': enceladus(
    'high',
    'A process is started through a shell with arguments that are not constant',
  ),
  'process.shell-script': enceladus('high', 'A shell is started on a script that is not constant'),
  'dom.inner-html': enceladus('medium', 'HTML that is not constant is written into the page'),
  'dom.dangerously-set': enceladus('medium', 'dangerouslySetInnerHTML is given HTML that is not constant'),
  'tls.verify-off': enceladus('high', 'Certificates of TLS connections are not verified'),
  'crypto.password-hash': enceladus('medium', 'A password is hashed with MD5 or SHA-1'),

  'secret.1password': secret('A 1Password service account token'),
  'secret.anthropic': secret('An Anthropic API key'),
  'secret.aws': secret('An AWS key'),
  'secret.basicauth': secret('A URL with user and password', 'high'),
  'secret.cloudflare': secret('A Cloudflare token'),
  'secret.database-connection-string': secret('A database address with user and password', 'high'),
  'secret.databricks': secret('A Databricks token'),
  'secret.docker': secret('A Docker access token'),
  'secret.figma': secret('A Figma token'),
  'secret.gcp': secret('A Google Cloud service account key'),
  'secret.github': secret('A GitHub token'),
  'secret.gitlab': secret('A GitLab token'),
  'secret.grafana': secret('A Grafana token'),
  'secret.groq': secret('A Groq API key'),
  'secret.hashicorp-vault': secret('A Vault token'),
  'secret.huggingface': secret('A Hugging Face token'),
  'secret.linear': secret('A Linear API key'),
  'secret.notion': secret('A Notion token'),
  'secret.npm': secret('An npm token'),
  'secret.openai': secret('An OpenAI API key'),
  'secret.privatekey': secret('A private key'),
  'secret.sendgrid': secret('A SendGrid API key'),
  'secret.shopify': secret('A Shopify token'),
  'secret.slack': secret('A Slack token'),
  'secret.stripe': secret('A Stripe key'),
  'secret.tailscale': secret('A Tailscale key'),
  'secret.vercel': secret('A Vercel token'),

  ...ERROR_RULES,
  ...TEST_RULES,

  ...DOCS_RULES,
  ...HISTORY_RULES,
  ...IDEAS_RULES,
  ...PERFORMANCE_RULES,
  ...RELEASE_RULES,
  ...RESILIENCE_RULES,
  ...INTEGRATION_RULES,
  ...REALTIME_RULES,
  ...METRIC_RULES,
  ...ACCESSIBILITY_RULES,
  ...DEPENDENCY_RULES,
  ...SPEC_RULES,
  ...CROSS_SPEC_RULES,
  ...RESPONSIVE_RULES,
  ...SCHEMA_RULES,
};

const TYPE_ERROR: Rule = { agent: 'mars', severity: 'high', what: 'The compiler reports an error' };
const TYPE_RULE = /^types\.TS\d{4,5}$/;

/** The rule by its id; `types.TS2322` is the compiler's error 2322. */
export function ruleOf(id: string): Rule | undefined {
  if (TYPE_RULE.test(id)) return TYPE_ERROR;
  return Object.hasOwn(RULES, id) ? RULES[id] : undefined;
}

const ONE_LESS: Readonly<Record<Severity, Severity>> = {
  critical: 'high',
  high: 'medium',
  medium: 'low',
  low: 'info',
  info: 'info',
};

/** How severe `rule` is in `file`. */
export function severityAt({ agent, severity }: Rule, file: string): Severity {
  return agent === 'enceladus' && isAside(file) ? ONE_LESS[severity] : severity;
}
