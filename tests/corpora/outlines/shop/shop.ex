defmodule Acme.Shop do
  @moduledoc "A shop: größer als ein Wagen."
  alias Acme.Cart

  @default_rate 0.2

  # What a cart costs.
  def total(cart, opts \\ [])
  def total(%Cart{} = cart, _opts), do: cart |> Cart.items() |> Enum.map(&price/1) |> Enum.sum()

  def total(cart, opts) when is_list(cart) do
    total(%Cart{items: cart}, opts)
  end

  def empty?(cart), do: Cart.items(cart) == []

  defp price(item) do
    item.price * rate()
  end

  defmacro rate(), do: @default_rate
end

defprotocol Acme.Priced do
  def cost(item)
end

defimpl Acme.Priced, for: Integer do
  def cost(item), do: item
end
