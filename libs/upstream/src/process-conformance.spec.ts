import { describeConformance } from '@intendant/testing';
import { startProcessHarness } from './process-harness.spec-helper.js';

describeConformance('process', startProcessHarness);
