import type { OpencodeClient } from '@opencode-ai/sdk/v2/client';
import type { Trouble } from '../core/model.ts';
import { LOG_IN } from './opencode-answer.ts';
import { splitModel } from './opencode-config.ts';
import { answered } from './opencode-reply.ts';

/** The models of one server. What was found is not looked for again, and by nobody twice at once: the list of all is long. */
export class Models {
  readonly #client: OpencodeClient;
  readonly #looks = new Map<string, Promise<Trouble | undefined>>();

  constructor(client: OpencodeClient) {
    this.#client = client;
  }

  async whyNot(directory: string, model: string | undefined): Promise<Trouble | undefined> {
    const name = model ?? '';
    const look = this.#looks.get(name) ?? whyNoModel(this.#client, directory, model);
    this.#looks.set(name, look);
    let isFound = false;
    try {
      const trouble = await look;
      isFound = trouble === undefined;
      return trouble;
    } finally {
      if (!isFound) this.#looks.delete(name);
    }
  }
}

/** Asked before the first prompt, since OpenCode has no error type that tells an unknown model from anything else. */
async function whyNoModel(
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
      remedy: `${LOG_IN}, or correct \`model: ${model}\` (\`opencode models\` lists what there is)`,
    };
  }
  if (Object.hasOwn(provider.models, wanted!.modelID)) return undefined;
  return {
    reason: `opencode has no model ${model}`,
    remedy: `correct \`model: ${model}\`: \`opencode models ${provider.id}\` lists what there is`,
  };
}
