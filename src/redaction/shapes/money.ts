/** Keys of payment, commerce and finance services. */
import { type Shape, shape } from './shape.ts';

export function moneyShapes(): Shape[] {
  return [
    shape('stripe-secret-key', 'sk_live_ sk_test_', /[A-Za-z0-9]{10,250}/),
    shape('stripe-restricted-key', 'rk_live_ rk_test_', /[A-Za-z0-9]{10,250}/),
    shape('stripe-organization-key', 'sk_org_live_ sk_org_test_ sk_org_', /[A-Za-z0-9_]{16,250}/),
    shape('webhook-signing-secret', 'whsec_', /[A-Za-z0-9+/]{16,90}={0,2}/),
    shape('stripe-ephemeral-key', 'ek_live_ ek_test_', /[\w]{20,250}/),
    shape('square-access-token', 'sq0atp- EAAAE EAAAl', /[\w-]{12,80}/),
    // All of them begin so; other data in base64 may too.
    shape('square-token', 'EAAA', /[\w-]{60}(?![\w+/=-])/, { wholeWord: true, random: true }),
    shape('square-secret', 'sq0csp- sq0idp-', /[\w-]{12,60}/),
    shape('paypal-access-token', 'access_token$production$ access_token$sandbox$ A21AA', /[\w$-]{30,200}/),
    shape('razorpay-key', 'rzp_live_ rzp_test_', /[A-Za-z0-9]{10,40}/),
    shape('adyen-key', 'AQE', /[a-z][a-z0-9]{4,10}[\w+/=.-]{40,300}/, { wholeWord: true, random: true }),
    shape(
      'plaid-token',
      'access-sandbox- access-development- access-production- link-sandbox- link-production-',
      /[0-9a-f]{8}-[0-9a-f-]{3,28}/,
    ),
    shape('shopify-token', 'shpat_ shpca_ shppa_ shpss_ shpua_ shpit_', /[0-9a-fA-F]{16,40}/),
    shape('flutterwave-key', 'FLWSECK- FLWSECK_TEST- FLWSECK_TEST FLWPUBK_', /[A-Za-z0-9-]{10,80}/),
    shape('mollie-key', 'live_ test_', /[A-Za-z0-9]{30,40}/, {
      wholeWord: true,
      random: true,
      // `pk_test_<host in base64>` of Clerk
      isPublic: (body) => /^[\w.-]{8,}\$?$/.test(Buffer.from(body, 'base64').toString('latin1')),
    }),
    shape('gocardless-token', 'live_ sandbox_', /[\w-]{40}(?![\w-])/, { wholeWord: true, random: true }),
    shape('paddle-key', 'pdl_live_apikey_ pdl_sdbx_apikey_ pdl_ntfset_', /[a-z0-9_A-Z]{20,90}/),
    shape('easypost-key', 'EZAK EZTK', /[A-Za-z0-9]{30,60}/, { wholeWord: true }),
    shape('shippo-token', 'shippo_live_ shippo_test_', /[0-9a-f]{16,50}/),
    shape('duffel-token', 'duffel_live_ duffel_test_', /[\w=-]{20,60}/),
    shape('lob-key', 'live_pub_ test_pub_ lob_live_ lob_test_', /[0-9a-f]{24,40}/),
    shape('klarna-key', 'klarna_live_api_ klarna_test_api_', /[\w!*$+/=-]{20,250}/),
    shape('polar-token', 'polar_oat_ polar_pat_ polar_whs_ polar_', /[A-Za-z0-9_]{20,80}/, { random: true }),
    shape('coinbase-key', 'organizations/', /[0-9a-f-]{36}\/apiKeys\/[0-9a-f-]{36}/, { wholeWord: true }),
    shape('checkout-key', 'sk_sbox_', /[a-z0-9]{16,40}/),
    shape('infura-key', 'infura.io/v3/ infura.io/ws/v3/', /[0-9a-f]{20,40}/),
    shape('bitcoin-private-key', 'xprv yprv zprv tprv', /[A-Za-z0-9]{60,112}/, { wholeWord: true }),
    shape('nostr-secret-key', 'nsec1', /[02-9ac-hj-np-z]{40,60}/),
    shape(
      'live-secret-key',
      'secret_key_live_ secret-live- secret-test- secret_live_ secret_test_',
      /[\w=-]{16,80}/,
    ),
  ];
}
