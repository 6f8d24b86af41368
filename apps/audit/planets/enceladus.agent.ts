import { PLANETS } from 'orrery/planets';
import { securityScan } from '../capabilities.ts';
import { planet } from '../planet.ts';
import { codeFromText } from '../tools/oxlint-code-from-text.tool.ts';
import { secretlint } from '../tools/secretlint.tool.ts';

export const enceladus = planet(PLANETS.enceladus, securityScan, [secretlint, codeFromText]);
