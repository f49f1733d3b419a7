#!/bin/sh
# GraphQL by hand: a visitor, a variable, a GET, a batch, a signed-in user, a mistake, a missing key. Needs curl and nothing else.
set -eu
: "${ANON_KEY:?is not set, see README.md}" "${ACCESS_TOKEN:?is not set, see README.md}"
endpoint="${API_URL:-http://localhost:54321}/graphql/v1"

# Sends a body; further arguments go to curl.
graphql() {
  body=$1
  shift
  curl --silent --show-error --compressed "$endpoint" --header "apikey: $ANON_KEY" \
    --header 'Content-Type: application/json' --data "$body" --write-out '\n' "$@"
}

echo 'A visitor asks:'
graphql '{"query": "{ productCollection(first: 2) { edges { node { name price } } } }"}'

echo 'The same with a variable and an operation name:'
graphql '{
  "query": "query OneProduct($id: BigInt!) { productByPk(id: $id) { name category { name } } }",
  "operationName": "OneProduct",
  "variables": {"id": "3"}
}'

echo 'The same by GET:'
curl --silent --show-error --get "$endpoint" --header "apikey: $ANON_KEY" --write-out '\n' \
  --data-urlencode 'query=query ($id: BigInt!) { productByPk(id: $id) { name category { name } } }' \
  --data-urlencode 'variables={"id": "3"}'

echo 'Two requests in one batch:'
graphql '[{"query": "{ productByPk(id: \"3\") { name } }"}, {"query": "{ postByPk(id: \"4\") { title } }"}]'

echo 'A signed-in user sees the own orders:'
graphql '{"query": "{ orderCollection { totalCount } customerCollection { edges { node { fullName } } } }"}' \
  --header "Authorization: Bearer $ACCESS_TOKEN"

echo 'A mistake is answered with status 200, or with 400 where the client asks for the newer media type:'
wrong='{"query": "{ productCollection { nothing } }"}'
status='%{http_code} %{content_type}\n'
graphql "$wrong" --output /dev/null --write-out "$status"
graphql "$wrong" --output /dev/null --write-out "$status" --header 'Accept: application/graphql-response+json'

echo 'Without a key:'
curl --silent --show-error --output /dev/null --write-out '%{http_code}\n' "$endpoint" \
  --header 'Content-Type: application/json' --data '{"query": "{ __typename }"}'
