import type { ClientContext, NewSessionResponse, SessionConfigOption } from '@agentclientprotocol/sdk';

/** The older way to choose a model, before models became session options. */
interface OlderModels {
  readonly models?: { readonly availableModels: readonly { readonly modelId: string; readonly name: string }[] } | null;
}

/** Sets `model:`, or returns why it can't. A wrong model would cost you money. */
export async function chooseModel(
  agent: ClientContext,
  session: NewSessionResponse,
  model: string | undefined,
): Promise<{ readonly problem: string; readonly remedy: string } | undefined> {
  if (model === undefined) return undefined;
  const { sessionId } = session;
  const option = session.configOptions?.find((each) => each.category === 'model' || each.id === 'model');
  const older = (session as OlderModels).models?.availableModels;
  const known = option ? valuesOf(option) : (older ?? []).map(({ modelId, name }) => ({ value: modelId, name }));
  if (known.length === 0)
    return {
      problem: `it can't select a model over ACP`,
      remedy: 'leave out `model:`, and set it in the program itself',
    };
  const chosen = known.find(({ value, name }) => value === model || name === model);
  if (!chosen) {
    const some = known.slice(0, 12).map(({ value }) => value);
    return { problem: `it has no model ${model}`, remedy: `correct \`model:\`; it has ${some.join(', ')}` };
  }
  if (option) await agent.request('session/set_config_option', { sessionId, configId: option.id, value: chosen.value });
  else await agent.request('session/set_model', { sessionId, modelId: chosen.value });
  return undefined;
}

function valuesOf(option: SessionConfigOption): { value: string; name: string }[] {
  if (option.type !== 'select') return [];
  return option.options.flatMap((each) => ('options' in each ? each.options : [each]));
}
