/**
 * OpenFeature in a web page: the stock OFREP provider reads the current variant as a flag.
 * The page passes the address of the service and a token with the scope `decide`.
 */
import { OFREPWebProvider } from "@openfeature/ofrep-web-provider";
import { OpenFeature } from "@openfeature/web-sdk";

export async function variantOf(address: string, token: string, experiment: string, control: string): Promise<string> {
  const headers = (): [string, string][] => [["Authorization", `Bearer ${token}`]];
  const provider = new OFREPWebProvider({ baseUrl: address, headersFactory: headers, pollInterval: 60_000 });
  await OpenFeature.setProviderAndWait(provider, { targetingKey: "everyone" }); // everyone gets the same variant
  return OpenFeature.getClient().getStringValue(experiment, control);
}

const { AFTERGLOW_ADDRESS, AFTERGLOW_TOKEN, AFTERGLOW_EXPERIMENT } = process.env;
if (AFTERGLOW_ADDRESS && AFTERGLOW_TOKEN && AFTERGLOW_EXPERIMENT) {
  console.log(await variantOf(AFTERGLOW_ADDRESS, AFTERGLOW_TOKEN, AFTERGLOW_EXPERIMENT, "control"));
  await OpenFeature.close();
}
