{{ config(materialized='incremental', unique_key='day') }}
select ordered_at::date as day, sum(amount) as total from {{ ref('stg_orders') }}
{% if is_incremental() %} where ordered_at::date >= (select coalesce(max(day), '1900-01-01') from {{ this }}) {% endif %}
group by 1
