select customer from {{ ref('eph') }}
