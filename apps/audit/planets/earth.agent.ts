import { PLANETS } from 'orrery/planets';
import { specsCheck } from '../capabilities.ts';
import { planet } from '../planet.ts';
import { gherkin } from '../tools/gherkin.tool.ts';

export const earth = planet(PLANETS.earth, specsCheck, [gherkin]);
