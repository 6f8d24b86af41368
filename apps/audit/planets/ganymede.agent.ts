import { PLANETS } from 'orrery/planets';
import { integrationsCheck } from '../capabilities.ts';
import { planet } from '../planet.ts';
import { jsonSchema } from '../tools/ajv.tool.ts';
import { redocly } from '../tools/redocly.tool.ts';

export const ganymede = planet(PLANETS.ganymede, integrationsCheck, [redocly, jsonSchema]);
