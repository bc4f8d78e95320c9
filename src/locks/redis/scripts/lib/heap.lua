-- A binary heap in an array: the first element goes before all others.

local function sift_down(heap, from, goes_before)
  while true do
    local least = from
    for child = 2 * from, 2 * from + 1 do
      if heap[child] and goes_before(heap[child], heap[least]) then least = child end
    end
    if least == from then return end
    heap[from], heap[least] = heap[least], heap[from]
    from = least
  end
end

local function heapify(heap, goes_before)
  for from = math.floor(#heap / 2), 1, -1 do sift_down(heap, from, goes_before) end
end
