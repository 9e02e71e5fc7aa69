{{ config(materialized='view') }}
select id, customer, amount, ordered_at::timestamp as ordered_at from {{ ref('orders') }}
