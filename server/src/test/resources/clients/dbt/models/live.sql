{{ config(materialized='materialized_view') }}
select customer, sum(amount) as total from {{ ref('orders') }} group by 1
