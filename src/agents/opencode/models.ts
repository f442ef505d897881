import type { OpencodeClient } from '@opencode-ai/sdk/v2/client';
import type { Trouble } from '../../core/model/model.ts';
import { LOG_IN } from './answer.ts';
import { splitModel } from './config.ts';
import { answered } from './reply.ts';

/**
 * Why a model can't answer; undefined if nothing is known against it. The list of all models is long, so it is read
 * before a run and after a failure only.
 */
export async function whyNoModel(
  client: OpencodeClient,
  directory: string,
  model: string | undefined,
): Promise<Trouble | undefined> {
  const { providers } = answered(await client.config.providers({ directory }));
  if (model === undefined) {
    return providers.length > 0 ? undefined : { reason: 'opencode has no model provider', remedy: LOG_IN };
  }
  const wanted = splitModel(model);
  const provider = providers.find(({ id }) => id === wanted?.providerID);
  if (!provider) {
    return {
      reason: `opencode has no provider ${wanted?.providerID ?? model}`,
      remedy: `${LOG_IN}, or correct \`model: ${model}\` (\`opencode models\` lists the models)`,
    };
  }
  if (Object.hasOwn(provider.models, wanted!.modelID)) return undefined;
  return {
    reason: `opencode has no model ${model}`,
    remedy: `correct \`model: ${model}\`: \`opencode models ${provider.id}\` lists the models`,
  };
}
