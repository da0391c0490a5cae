/** Keys of databases, observability services, and analytics and alerting products. */
import { type Shape, shape } from './shape.ts';

export function dataShapes(): Shape[] {
  return [
    shape('neon-api-key', 'napi_', /[a-z0-9]{24,80}/),
    shape('neon-password', 'npg_', /[A-Za-z0-9]{10,40}/),
    shape('planetscale-token', 'pscale_tkn_ pscale_oauth_ pscale_pw_ pscale_api_', /[\w.=-]{16,80}/),
    shape('aiven-password', 'AVNS_', /[\w-]{14,40}/),
    shape('xata-key', 'xau_', /[A-Za-z0-9]{20,60}/),
    shape('fauna-secret', 'fnA', /[\w-]{34,60}/, { wholeWord: true, random: true }),
    shape('clickhouse-key', '4b1d', /[A-Za-z0-9]{38}(?![A-Za-z0-9])/, { wholeWord: true, random: true }),
    shape('elastic-key', 'essu_', /[A-Za-z0-9+/=]{30,120}/),
    shape('confluent-secret', 'cflt', /[A-Za-z0-9+/]{50,70}/, { wholeWord: true }),
    shape('sentry-org-token', 'sntrys_', /[\w=+/]{16,500}/),
    shape('sentry-user-token', 'sntryu_ sntrya_', /[0-9a-f]{20,80}/),
    shape('newrelic-user-key', 'NRAK- NRRA- NRAP- NRAA-', /[A-Z0-9]{16,40}/),
    shape('newrelic-insert-key', 'NRII- NRIQ-', /[\w-]{20,40}/),
    shape('newrelic-browser-key', 'NRJS-', /[0-9a-f]{12,24}/),
    shape('grafana-cloud-token', 'glc_', /[A-Za-z0-9+/]{20,400}={0,2}/),
    shape('grafana-service-token', 'glsa_', /[A-Za-z0-9]{14,40}(?:_[0-9a-fA-F]{0,8})?/),
    shape('honeycomb-key', 'hcaik_ hcxik_ hcbik_ hcamk_ hcxmk_ hcaic_ hcalk_', /[a-z0-9]{20,80}/),
    shape(
      'dynatrace-token',
      'dt0c01. dt0s01. dt0s02. dt0s16. dt0a01. dt0e01.',
      /[A-Z0-9]{8,30}(?:\.[A-Z0-9]{20,70})?/,
    ),
    shape('axiom-token', 'xaat- xapt- xait-', /[0-9a-f-]{12,40}/),
    shape('openweather-key', 'appid=', /[0-9a-f]{32}(?![0-9A-Za-z])/, { wholeWord: true }),
    shape('posthog-key', 'phx_ phs_', /[A-Za-z0-9]{24,60}/),
    shape('prefect-key', 'pnu_ pnb_', /[A-Za-z0-9]{24,50}/),
    shape('statsig-secret', 'secret-', /[A-Za-z0-9]{24,60}/, { random: true, wholeWord: true }),
    shape('pagerduty-key', 'pdus+ pdeu+', /[\w+-]{16,40}/),
    shape('mapbox-secret', 'sk.eyJ', /[\w-]{14,160}(?:\.[\w-]{0,60})?/),
    shape('flagsmith-key', 'ser.', /[A-Za-z0-9]{18,30}/, { wholeWord: true, random: true }),
    shape('unleash-token', 'default:development. default:production. default:client.', /[0-9a-f]{30,80}/),
  ];
}
